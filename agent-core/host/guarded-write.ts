/** Guarded change of a text file on this machine: the file must hold what the change was made for. */
import { constants, lstatSync, readFileSync, renameSync, rmSync } from "node:fs";
import {
  access,
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasCode } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { decodeAny, type EncodingOf, encodeAs, failure, readDecoded, systemFailure } from "./decode-file.ts";
import type { DiskEntry, FileFailure, FileText, FileWrite, FileWritten } from "./host.ts";

type Outcome = FileWritten | FileFailure;

const MODE_BITS = 0o7777;

/** Never rejects for the file's sake; a signal that is aborted beforehand rejects. */
export async function guardedWrite(write: FileWrite, signal: AbortSignal): Promise<Outcome> {
  signal.throwIfAborted();
  const { path, expected, after } = write;
  try {
    if (after === null) return await remove(write, signal);
    if (expected === null) return await create({ ...write, after }, signal);
    return await replace({ ...write, expected, after }, signal);
  } catch (error) {
    if (expected !== null && hasCode(error, "ENOENT", "ENOTDIR")) return goneSince(path);
    return systemFailure(path, error, after === null ? "removed" : "written");
  }
}

/** Reason why a file that was read as `present` must not be changed; undefined when it holds `expected`. */
export function conflictWith(
  path: string,
  present: Pick<FileText, "ok" | "text"> | FileFailure,
  expected: string | null,
): FileFailure | undefined {
  if (!present.ok && present.reason !== "missing") return present;
  const exists = failure("conflict", `${path} already exists; read it before you change it.`);
  if (expected === null) return present.ok ? { ...exists, present: present.text } : undefined;
  if (!present.ok) return goneSince(path);
  return present.text === expected ? undefined : changedSince(path, present.text);
}

function changedSince(path: string, present: string): FileFailure {
  return { ...failure("conflict", `${path} has changed since it was read; read it again.`), present };
}

function goneSince(path: string): FileFailure {
  return { ...failure("conflict", `${path} no longer exists; nothing was written.`), present: null };
}

async function create(
  { path, after, keep }: FileWrite & { readonly after: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined) {
    const present = await readDecoded(path, signal);
    const isDangling = !present.ok && present.reason === "missing" && there.isSymbolicLink();
    if (isDangling) return failure("failed", `${path} is a symbolic link to something that does not exist.`);
    const conflict = conflictWith(path, present, null);
    if (conflict !== undefined) return conflict;
  }
  await keep?.(null);
  const bytes = Buffer.from(after);
  makeFolder(dirname(path));
  let mode: number;
  try {
    mode = await createWhole(path, bytes);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    const present = await readDecoded(path, signal);
    return conflictWith(path, present, null) ?? goneSince(path);
  }
  return { ok: true, disk: { entry: { kind: "file", bytes, mode } } };
}

/** The last step before the change; gives the bytes that the file holds where they are not the expected ones. */
type Commit = (target: string, before: Buffer, after: Buffer) => Promise<Buffer | undefined>;

async function replace(
  { path, expected, after, keep }: FileWrite & { readonly expected: string; readonly after: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const target = await realpath(path);
  const found = await stat(target);
  if (!found.isFile()) return asFailure(await readDecoded(path, signal), path);
  await access(target, constants.W_OK);
  const mode = found.mode & MODE_BITS;
  const folderIsWritable = await access(dirname(target), constants.W_OK).then(
    () => true,
    () => false,
  );
  // A rename would separate the file from its other hard links.
  const commit = folderIsWritable && found.nlink === 1 ? renameOver(mode) : writeInPlace;
  let as: EncodingOf = {};
  for (const isLast of [false, true]) {
    const [before, bytes] = [await encodeAs(expected, as), await encodeAs(after, as)];
    await keep?.({ kind: "file", bytes: before, mode });
    const present = await commit(target, before, bytes);
    if (present === undefined) return { ok: true, disk: { entry: { kind: "file", bytes, mode } } };
    const decoded = await decodeAny(path, present);
    if (isLast || !decoded.ok || decoded.text !== expected) return asFailure(decoded, path);
    as = decoded;
  }
  return goneSince(path);
}

function asFailure(present: Pick<FileText, "ok" | "text"> | FileFailure, path: string): FileFailure {
  return present.ok ? changedSince(path, present.text) : present;
}

/**
 * Writes a neighbour and renames it over the target, so that a full disk or a power cut leaves the old text. Writing
 * takes milliseconds, so the target is compared after it: between comparison and rename this process does nothing else.
 */
function renameOver(mode: number): Commit {
  return async (target, before, after) => {
    const neighbour = neighbourOf(target);
    try {
      await writeSynced(neighbour, after, mode);
      await chmod(neighbour, mode);
      const present = readFileSync(target);
      if (present.equals(before)) {
        renameSync(neighbour, target);
        return undefined;
      }
      await rm(neighbour, { force: true });
      return present;
    } catch (error) {
      await rm(neighbour, { force: true });
      throw error;
    }
  };
}

const writeInPlace: Commit = async (target, before, after) => {
  const file = await open(target, "r+");
  try {
    const present = readFileSync(target);
    if (!present.equals(before)) return present;
    await file.write(after, 0, after.length, 0);
    await file.truncate(after.length);
    await file.sync();
    return undefined;
  } finally {
    await file.close();
  }
};

function neighbourOf(path: string): string {
  return join(dirname(path), `.hermes-${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
}

/** Links a complete neighbour to the path, so that a kill or a full disk leaves no empty file. Gives the mode. */
async function createWhole(path: string, bytes: Buffer): Promise<number> {
  const neighbour = neighbourOf(path);
  try {
    const mode = await writeSynced(neighbour, bytes);
    await link(neighbour, path);
    return mode;
  } catch (error) {
    // Some file systems have no links.
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
    return await writeSynced(path, bytes);
  } finally {
    await rm(neighbour, { force: true });
  }
}

/** Gives the mode of the new file. */
async function writeSynced(path: string, bytes: Buffer, mode?: number): Promise<number> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(bytes);
    await file.sync();
    return (await file.stat()).mode & MODE_BITS;
  } finally {
    await file.close();
  }
}

async function remove({ path, expected, purpose, keep }: FileWrite, signal: AbortSignal): Promise<Outcome> {
  const present = await readDecoded(path, signal);
  const isGone = !present.ok && present.reason === "missing";
  if (isGone && (purpose === "revert" || expected === null)) return { ok: true };
  if (isGone) return present;
  const conflict = conflictWith(path, present, expected);
  if (conflict !== undefined) return conflict;
  if (!present.ok) return present;
  const entry = await entryOf(path, await encodeAs(present.text, present));
  await keep?.(entry);
  if (!isSameEntry(path, entry)) return asFailure(await readDecoded(path, signal), path);
  rmSync(path);
  return { ok: true, disk: { entry: null }, restore: () => restore(path, entry) };
}

/** `bytes` are the content that was read through the path. */
export async function entryOf(path: string, bytes: Buffer): Promise<DiskEntry> {
  const found = await lstat(path);
  const mode = found.mode & MODE_BITS;
  return found.isSymbolicLink() ? { kind: "link", target: await readlink(path), mode } : { kind: "file", bytes, mode };
}

/** The file that a path resolves to, with content that is known already; null when there is none. */
export async function entryBehind(path: string, bytes: Buffer): Promise<DiskEntry | null> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? null : { kind: "file", bytes, mode: found.mode & MODE_BITS };
}

function isSameEntry(path: string, entry: DiskEntry): boolean {
  if (lstatSync(path).isSymbolicLink()) return entry.kind === "link";
  return entry.kind === "file" && readFileSync(path).equals(entry.bytes);
}

async function restore(path: string, entry: DiskEntry): Promise<Outcome> {
  try {
    await mkdir(dirname(path), { recursive: true });
    if (entry.kind === "link") {
      await symlink(entry.target, path);
    } else {
      await writeFile(path, entry.bytes, { flag: "wx" });
      await chmod(path, entry.mode);
    }
    return { ok: true, disk: { entry } };
  } catch (error) {
    return systemFailure(path, error, "written");
  }
}
