/** Moving a text file of this machine, guarded by the text that it must hold. */
import { lstat, mkdir, readlink, rename } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { readDecoded } from "./decode-file.ts";
import { failure, systemFailure } from "./file-failure.ts";
import { conflictWith } from "./guarded-write.ts";
import type { FileFailure, FileMove } from "./host.ts";

/** Refused where anything is at the new path. */
export async function renameFile(
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
      return failure("failed", `${from} is a symbolic link that leads nowhere from ${to}; move its target instead.`);
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
