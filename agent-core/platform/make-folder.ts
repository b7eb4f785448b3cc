/** Creates folders with an error that names the cause. */
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { attempt, hasCode } from "./errors.ts";
import { processIdentity } from "./locks/process-identity.ts";

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

/** Longest path of a folder for sockets: a socket's path has at most 103 bytes, 51 of them below it. */
const MAX_SOCKET_PARENT = 52;

/** Makes a private temporary folder for sockets; returns its real path. A macOS user's temporary folder is too long. */
export async function makeSocketFolder(prefix: string): Promise<string> {
  const parent = Buffer.byteLength(tmpdir()) <= MAX_SOCKET_PARENT ? tmpdir() : "/tmp";
  removeAbandoned(parent, prefix);
  return realpath(await mkdtemp(join(parent, `${prefix}${process.pid}-`)));
}

/** Makes a private folder for temporary files whose name has the id of this process. */
export function makeOwnedFolder(prefix: string, parent: string = tmpdir()): string {
  removeAbandoned(parent, prefix);
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`));
}

/** Removes folders of killed agents. */
function removeAbandoned(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(/^(\d+)-/.exec(name.slice(prefix.length))?.[1]);
    if (Number.isNaN(pid) || processIdentity(pid) !== undefined) continue;
    // It may be another user's folder, or another process removes it, too.
    attempt(() => rmSync(join(parent, name), { recursive: true, force: true }));
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
