/** Removing and moving text files of this machine, guarded by the text they must hold. */
import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { readDecoded } from "./decode-file.ts";
import { failure, systemFailure } from "./file-failure.ts";
import type { FileFailure, FileMove } from "./host.ts";

type Done = { readonly ok: true } | FileFailure;

/** Of a symbolic link the link goes, not what it points to. */
export async function removeFile(path: string, expected: string, signal: AbortSignal): Promise<Done> {
  const conflict = await conflictAt(path, expected, signal);
  if (conflict !== undefined) return conflict;
  try {
    await rm(path);
    return { ok: true };
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
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
    return { ok: true };
  } catch (error) {
    return systemFailure(from, error, "moved");
  }
}

async function conflictAt(path: string, expected: string, signal: AbortSignal): Promise<FileFailure | undefined> {
  signal.throwIfAborted();
  const present = await readDecoded(path, signal);
  if (!present.ok) return present;
  if (present.text === expected) return undefined;
  return failure("conflict", `${path} has changed since it was read; read it again.`);
}
