/** Removing and moving text files of this machine, guarded by the text they must hold. */
import { chmod, lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { conflictWith } from "./conflict-with.ts";
import { readDecoded } from "./decode-file.ts";
import { failure, systemFailure } from "./file-failure.ts";
import type { FileFailure, FileMove } from "./host.ts";

type Done = { readonly ok: true } | FileFailure;

/** Of a symbolic link the link goes, not what it points to. */
export async function removeFile(
  path: string,
  expected: string,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly bringBack: () => Promise<Done> } | FileFailure> {
  const conflict = await conflictAt(path, expected, signal);
  if (conflict !== undefined) return conflict;
  try {
    const entry = await entryAt(path);
    await rm(path);
    return { ok: true, bringBack: () => bringBack(path, entry) };
  } catch (error) {
    return systemFailure(path, error, "removed");
  }
}

/** Never over anything: where something stands already it is refused. */
export async function renameFile({ from, to, expected }: FileMove, signal: AbortSignal): Promise<Done> {
  const conflict = await conflictAt(from, expected, signal);
  if (conflict !== undefined) return conflict;
  const taken = await lstat(to).catch(() => undefined);
  if (taken !== undefined) return failure("conflict", `${to} exists; nothing was moved there.`);
  try {
    if (await isBoundToFolder(from, to)) {
      return failure("failed", `${from} is a symbolic link that leads nowhere from ${to}; move what it points to.`);
    }
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    return { ok: true };
  } catch (error) {
    return systemFailure(from, error, "moved");
  }
}

/** What stands under a name: a file's bytes and permissions, or where a link leads. */
type Entry =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

async function entryAt(path: string): Promise<Entry> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return { kind: "link", target: await readlink(path) };
  return { kind: "file", bytes: await readFile(path), mode: found.mode & 0o7777 };
}

async function bringBack(path: string, entry: Entry): Promise<Done> {
  try {
    await mkdir(dirname(path), { recursive: true });
    if (entry.kind === "link") {
      await symlink(entry.target, path);
    } else {
      await writeFile(path, entry.bytes, { flag: "wx" });
      await chmod(path, entry.mode);
    }
    return { ok: true };
  } catch (error) {
    return systemFailure(path, error, "written");
  }
}

/** A link to a place beside it leads elsewhere from another folder. */
async function isBoundToFolder(from: string, to: string): Promise<boolean> {
  if (dirname(from) === dirname(to) || !(await lstat(from)).isSymbolicLink()) return false;
  return !isAbsolute(await readlink(from));
}

async function conflictAt(path: string, expected: string, signal: AbortSignal): Promise<FileFailure | undefined> {
  signal.throwIfAborted();
  const present = await readDecoded(path, signal);
  return present.ok ? conflictWith(path, present, { kind: "text", text: expected }) : present;
}
