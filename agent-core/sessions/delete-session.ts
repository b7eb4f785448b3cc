/** Removes a session for good: its journal, and what its tools wrote aside. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { acquireLock, type LockHolder } from "../platform/locks/file-lock.ts";
import { noteDeletion } from "./import/deleted-imports.ts";

/**
 * `journal` and `spillFolder` are absolute; what is not there is deleted already. Gives the process that is writing the
 * session, which is then left alone. Rejects with the system's error.
 */
export async function deleteSession(journal: string, spillFolder: string): Promise<LockHolder | undefined> {
  if (!existsSync(journal)) return undefined; // nor need there be a folder that a lock could be put into
  const lock = acquireLock(`${journal}.lock`);
  if ("pid" in lock) return lock;
  try {
    await noteDeletion(journal, basename(journal, ".jsonl")); // first: it must not come back when we die in between
    await rm(journal, { force: true });
    await rm(spillFolder, { recursive: true, force: true });
  } finally {
    lock.release();
  }
  return undefined;
}
