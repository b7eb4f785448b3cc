/** Text files of this machine. */
import { statSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rename, stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { attempt } from "../platform/errors.ts";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { failure, readDecoded, systemFailure } from "./decode-file.ts";
import { conflictWith, guardedWrite } from "./guarded-write.ts";
import type { FileFailure, FileMove, HostFiles } from "./host.ts";

export function nodeFiles(): HostFiles {
  /** By path. */
  const writes = new KeyedQueue();
  return {
    async readText(path, signal) {
      const decoded = await readDecoded(path, signal);
      return decoded.ok ? { ...decoded, source: "disk" } : decoded;
    },
    async guardedWrite(write, signal) {
      const written = await writes.run(write.path, () => guardedWrite(write, signal));
      if (!written.ok || written.restore === undefined) return written;
      const { restore } = written;
      return { ...written, restore: () => writes.run(write.path, restore) };
    },
    rename: (move, signal) => writes.run(move.from, () => renameFile(move, signal)),
    async stat(path) {
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return undefined;
      if (found.isFile()) return { kind: "file", size: found.size };
      return { kind: found.isDirectory() ? "directory" : "other", size: found.size };
    },
    list: (folder) => readdir(folder).catch(() => []),
  };
}

/** Moves a file that holds `expected`; refuses when the new path exists. */
async function renameFile(
  { from, to, expected }: FileMove,
  signal: AbortSignal,
): Promise<{ readonly ok: true } | FileFailure> {
  signal.throwIfAborted();
  const present = await readDecoded(from, signal);
  const conflict = present.ok ? conflictWith(from, present, expected) : present;
  if (conflict !== undefined) return conflict;
  const taken = await lstat(to).catch(() => undefined);
  if (taken !== undefined) return failure("conflict", `${to} exists; nothing was moved there.`);
  try {
    if (await isBoundToFolder(from, to)) {
      return failure("failed", `${from} is a symbolic link that would be broken at ${to}; move its target instead.`);
    }
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    return { ok: true };
  } catch (error) {
    return systemFailure(from, error, "moved");
  }
}

/** True for a relative link that would point elsewhere from another folder. */
async function isBoundToFolder(from: string, to: string): Promise<boolean> {
  if (dirname(from) === dirname(to) || !(await lstat(from)).isSymbolicLink()) return false;
  return !isAbsolute(await readlink(from));
}

/** Bytes of a file on this machine, such as a picture. Fails for more than `maxBytes`, and for a folder or a device. */
export async function readBytes(
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly bytes: Buffer } | FileFailure> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return failure("failed", `${path} is not a file.`);
    if (found.size > maxBytes) return failure("failed", `${path} is larger than ${maxBytes} bytes.`);
    return { ok: true, bytes: await readFile(path, { signal }) };
  } catch (error) {
    signal.throwIfAborted();
    return systemFailure(path, error, "read");
  }
}

/** Problem of a path where nothing is. */
export const MISSING = "does not exist";

/**
 * Problem with a folder of this machine. Synchronous: the first asynchronous call of a process starts its threads, which takes
 * longer than all other checks of a new session.
 */
export function folderProblem(folder: string): string | undefined {
  const found = attempt(() => statSync(folder));
  if (found === undefined) return MISSING;
  return found.isDirectory() ? undefined : "is not a folder";
}
