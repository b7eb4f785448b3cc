/** Creates folders with an error that names the cause. */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

/** Longest path of a folder for sockets: a socket's path has at most 103 bytes, 43 of them below it. */
const MAX_SOCKET_PARENT = 60;

/** Makes a private temporary folder for sockets; returns its real path. A macOS user's temporary folder is too long. */
export async function makeSocketFolder(prefix: string): Promise<string> {
  const parent = Buffer.byteLength(tmpdir()) <= MAX_SOCKET_PARENT ? tmpdir() : "/tmp";
  return realpath(await mkdtemp(join(parent, prefix)));
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
