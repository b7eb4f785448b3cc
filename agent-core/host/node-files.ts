/** Text files of this machine, read and written so that nothing is lost: strict UTF-8, guarded, atomic. */
import { constants, readFileSync, renameSync } from "node:fs";
import { access, chmod, lstat, mkdir, open, readdir, realpath, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { changedSince, conflictWith } from "./conflict-with.ts";
import { BYTE_ORDER_MARK, type DecodedFile, readDecoded } from "./decode-file.ts";
import { failure, systemFailure } from "./file-failure.ts";
import type { ExpectedText, FileFailure, FileStat, FileText, HostFiles } from "./host.ts";
import { removeFile, renameFile } from "./node-file-moves.ts";

type Written = { readonly ok: true } | FileFailure;

export function nodeFiles(): HostFiles {
  /** By path. */
  const changes = new KeyedQueue();
  return {
    async readText(path, signal) {
      const decoded = await readDecoded(path, signal);
      if (!decoded.ok) return decoded;
      const { text } = decoded;
      return { ok: true, text, source: "disk" } satisfies FileText;
    },
    writeText: (path, text, expected, signal) => changes.run(path, () => writeGuarded(path, text, expected, signal)),
    async remove(path, expected, signal) {
      const removed = await changes.run(path, () => removeFile(path, expected, signal));
      return removed.ok ? { ok: true, bringBack: () => changes.run(path, removed.bringBack) } : removed;
    },
    rename: (move, signal) => changes.run(move.from, () => renameFile(move, signal)),
    putBack: (path, text, expected, signal) =>
      changes.run(path, () =>
        text === null ? removeGuarded(path, expected, signal) : writeGuarded(path, text, expected, signal),
      ),
    async stat(path): Promise<FileStat | undefined> {
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return undefined;
      if (found.isFile()) return { kind: "file", size: found.size };
      return { kind: found.isDirectory() ? "directory" : "other", size: found.size };
    },
    list: (folder) => readdir(folder).catch(() => []),
  };
}

async function writeGuarded(path: string, text: string, expected: ExpectedText, signal: AbortSignal): Promise<Written> {
  signal.throwIfAborted();
  const present = await readDecoded(path, signal);
  const conflict = conflictWith(path, present, expected);
  if (conflict !== undefined) return conflict;
  try {
    if (!present.ok) return await createFile(path, Buffer.from(text));
    return await replaceFile(path, bytesOf(present, present.text), bytesOf(present, text));
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return changedSince(path);
    return systemFailure(path, error, "written");
  }
}

/** With one byte order mark where the file has one, also where the text brings its own. */
function bytesOf({ hasMark }: DecodedFile, text: string): Buffer {
  return hasMark ? Buffer.concat([BYTE_ORDER_MARK, Buffer.from(text.replace(/^\ufeff/, ""))]) : Buffer.from(text);
}

/** A file that is gone already is as it shall be. */
async function removeGuarded(path: string, expected: ExpectedText, signal: AbortSignal): Promise<Written> {
  if (expected.kind === "text") {
    const removed = await removeFile(path, expected.text, signal);
    return !removed.ok && removed.reason === "missing" ? { ok: true } : removed;
  }
  const present = await readDecoded(path, signal);
  return conflictWith(path, present, expected) ?? { ok: true };
}

async function createFile(path: string, bytes: Buffer): Promise<Written> {
  const link = await lstat(path).catch(() => undefined);
  if (link?.isSymbolicLink()) return failure("failed", `${path} is a symbolic link to something that does not exist.`);
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return { ok: true };
}

/** Writes a neighbour and renames it over the target, so that a full disk or a power cut leaves the old text. */
async function replaceFile(path: string, before: Buffer, bytes: Buffer): Promise<Written> {
  const target = await realpath(path);
  const { mode, nlink } = await stat(target);
  await access(target, constants.W_OK);
  const folderIsWritable = await access(dirname(target), constants.W_OK).then(
    () => true,
    () => false,
  );
  // A rename would cut a file loose from its other hard links.
  if (!folderIsWritable || nlink > 1) return writeInPlace(target, before, bytes);
  const neighbour = join(dirname(target), `.hermes-${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
  try {
    const file = await open(neighbour, "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(neighbour, mode & 0o7777);
    putInPlace(neighbour, target, before);
  } catch (error) {
    await rm(neighbour, { force: true });
    throw error;
  }
  return { ok: true };
}

/**
 * Getting the new bytes to the disk takes milliseconds in which others write, too. From this last look on nothing of this
 * process comes in between, and of others only what they do in the same microseconds.
 */
function putInPlace(neighbour: string, target: string, before: Buffer): void {
  assertUnchanged(target, before);
  renameSync(neighbour, target);
}

function assertUnchanged(target: string, before: Buffer): void {
  if (!readFileSync(target).equals(before)) throw new ChangedMeanwhile();
}

/** Somebody else was faster. */
class ChangedMeanwhile extends Error {}

async function writeInPlace(target: string, before: Buffer, bytes: Buffer): Promise<Written> {
  const file = await open(target, "r+");
  try {
    assertUnchanged(target, before);
    await file.write(bytes, 0, bytes.length, 0);
    await file.truncate(bytes.length);
    await file.sync();
  } finally {
    await file.close();
  }
  return { ok: true };
}
