/** Creates folders with an error that names the cause. */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "./errors.ts";

/**
 * Creates a folder (absolute) and its parents. On a read-only file system Node's recursive mkdir reports a missing
 * folder; this one reports EROFS.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (hasCode(error, "ENOENT")) checkWritable(path);
    throw error;
  }
}

/** Throws EROFS where the nearest folder that exists is on a read-only file system. */
function checkWritable(path: string): void {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    if (hasCode(error, "EROFS")) throw error;
  }
}
