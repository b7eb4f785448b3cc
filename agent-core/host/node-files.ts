/** Text files of this machine, read and written so that nothing is lost: strict UTF-8, guarded, atomic. */
import { constants, readFileSync } from "node:fs";
import { access, chmod, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ExpectedText, FileFailure, FileStat, FileText, HostFiles } from "./host.ts";

/** Larger files are searched or read by a command, not held in memory. */
const MAX_FILE_BYTES = 50_000_000;
const SMALL_FILE_BYTES = 65_536;
/** A NUL byte this early means that the file is not text; the same look as git's. */
const BINARY_PROBE_BYTES = 8_000;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

type Written = { readonly ok: true } | FileFailure;

/** A file's text with what must survive an edit but is not text. */
type Decoded = { readonly ok: true; readonly text: string; readonly hasMark: boolean };

export function nodeFiles(): HostFiles {
  const writes = new Map<string, Promise<unknown>>();
  /** Two writes of one path in a row: the second must see what the first left. */
  const inTurn = (path: string, write: () => Promise<Written>): Promise<Written> => {
    const previous = writes.get(path) ?? Promise.resolve();
    const written = previous.then(write);
    const settled = written
      .catch(() => undefined)
      .finally(() => {
        if (writes.get(path) === settled) writes.delete(path);
      });
    writes.set(path, settled);
    return written;
  };
  return {
    async readText(path, signal) {
      const decoded = await readDecoded(path, signal);
      if (!decoded.ok) return decoded;
      const { text } = decoded;
      return { ok: true, text, source: "disk" } satisfies FileText;
    },
    writeText: (path, text, expected, signal) => inTurn(path, () => writeGuarded(path, text, expected, signal)),
    putBack: (path, text, expected, signal) =>
      inTurn(path, () =>
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

async function readDecoded(path: string, signal: AbortSignal): Promise<Decoded | FileFailure> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failure("directory", `${path} is a folder, not a file.`);
    // Opening a pipe or a device can wait for ever.
    if (!found.isFile()) return failure("binary", `${path} is not a regular file (a device, pipe or socket).`);
    if (found.size > MAX_FILE_BYTES) {
      const size = `${Math.round(found.size / 1_000_000)} MB`;
      return failure(
        "too-large",
        `${path} has ${size}; at most ${MAX_FILE_BYTES / 1_000_000} MB can be read at once. Search it, or read a part of it with a command.`,
      );
    }
    return decode(path, await readBytes(path, found.size, signal));
  } catch (error) {
    signal.throwIfAborted();
    return systemFailure(path, error, "read");
  }
}

/** A small file of a disk that has just answered is read at once: four turns through the thread pool take ten times as long. */
async function readBytes(path: string, size: number, signal: AbortSignal): Promise<Buffer> {
  return size > 0 && size <= SMALL_FILE_BYTES ? readFileSync(path) : readFile(path, { signal });
}

function decode(path: string, bytes: Buffer): Decoded | FileFailure {
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return failure("encoding", `${path} is UTF-16 text, which cannot be edited here.`);
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return failure("encoding", `${path} is UTF-16 text, which cannot be edited here.`);
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0))
    return failure("binary", `${path} is a binary file (${bytes.length} bytes).`);
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes,
    );
    return { ok: true, text, hasMark };
  } catch {
    return failure("encoding", `${path} is not valid UTF-8 text, so an edit could damage it.`);
  }
}

async function writeGuarded(path: string, text: string, expected: ExpectedText, signal: AbortSignal): Promise<Written> {
  signal.throwIfAborted();
  const present = await readDecoded(path, signal);
  if (!present.ok && present.reason !== "missing") return present;
  const conflict = conflictWith(path, present, expected);
  if (conflict !== undefined) return conflict;
  const bytes = Buffer.from(text);
  try {
    if (!present.ok) return await createFile(path, bytes);
    return await replaceFile(path, present.hasMark ? Buffer.concat([BYTE_ORDER_MARK, bytes]) : bytes);
  } catch (error) {
    return systemFailure(path, error, "written");
  }
}

async function removeGuarded(path: string, expected: ExpectedText, signal: AbortSignal): Promise<Written> {
  signal.throwIfAborted();
  const present = await readDecoded(path, signal);
  if (!present.ok) return present.reason === "missing" ? { ok: true } : present;
  const conflict = conflictWith(path, present, expected);
  if (conflict !== undefined) return conflict;
  try {
    await rm(path);
    return { ok: true };
  } catch (error) {
    return systemFailure(path, error, "written");
  }
}

function conflictWith(path: string, present: Decoded | FileFailure, expected: ExpectedText): FileFailure | undefined {
  if (expected.kind === "absent") {
    return present.ok ? failure("conflict", `${path} exists by now; read it before changing it.`) : undefined;
  }
  if (!present.ok) return failure("conflict", `${path} is gone by now; it was not written.`);
  if (present.text === expected.text) return undefined;
  return failure("conflict", `${path} has changed since it was read; read it again.`);
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
async function replaceFile(path: string, bytes: Buffer): Promise<Written> {
  const target = await realpath(path);
  const { mode, nlink } = await stat(target);
  await access(target, constants.W_OK);
  const folderIsWritable = await access(dirname(target), constants.W_OK).then(
    () => true,
    () => false,
  );
  // A rename would cut a file loose from its other hard links.
  if (!folderIsWritable || nlink > 1) return writeInPlace(target, bytes);
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
    await rename(neighbour, target);
  } catch (error) {
    await rm(neighbour, { force: true });
    throw error;
  }
  return { ok: true };
}

async function writeInPlace(target: string, bytes: Buffer): Promise<Written> {
  const file = await open(target, "r+");
  try {
    await file.write(bytes, 0, bytes.length, 0);
    await file.truncate(bytes.length);
    await file.sync();
  } finally {
    await file.close();
  }
  return { ok: true };
}

const REASONS: Readonly<Record<string, FileFailure["reason"]>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

function systemFailure(path: string, error: unknown, action: "read" | "written"): FileFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = REASONS[code] ?? "failed";
  if (reason === "missing") return failure(reason, `${path} does not exist.`);
  if (reason === "denied") return failure(reason, `${path} cannot be ${action}: permission denied.`);
  return failure(reason, `${path} cannot be ${action}: ${error instanceof Error ? error.message : String(error)}`);
}

function failure(reason: FileFailure["reason"], message: string): FileFailure {
  return { ok: false, reason, message };
}
