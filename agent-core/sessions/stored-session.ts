/** Changes to a stored session that no agent has open. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { messageOf } from "../platform/errors.ts";
import { acquireLock, type LockHolder } from "../platform/locks/file-lock.ts";
import type { JournalEntry } from "./entry.ts";
import { noteDeletion } from "./import/deleted-imports.ts";
import { Journal } from "./journal.ts";
import type { StoredSession } from "./read-journal.ts";
import { titleLine } from "./titles.ts";

/**
 * Deletes a session's journal and spilled results. `journal` and `spillFolder` are absolute. Returns the process that
 * writes the session, if any; then nothing is deleted. Rejects with the system's error.
 */
export async function deleteSession(journal: string, spillFolder: string): Promise<LockHolder | undefined> {
  if (!existsSync(journal)) return undefined; // already deleted; its folder may be missing too, so no lock can be created
  const lock = acquireLock(`${journal}.lock`);
  if ("pid" in lock) return lock;
  try {
    await noteDeletion(journal, basename(journal, ".jsonl")); // first, so that a crash in between does not let an import bring the session back
    await rm(journal, { force: true });
    await rm(spillFolder, { recursive: true, force: true });
  } finally {
    lock.release();
  }
  return undefined;
}

/** Appends entries with their own times. Rejects with an Error in one line. */
export async function appendEntries(
  { path, id, cwd }: Pick<StoredSession, "path" | "id" | "cwd">,
  entries: readonly Exclude<JournalEntry, { type: "session" }>[],
): Promise<void> {
  let at = 0;
  let failure: string | undefined;
  const onFailure = (_: string, reason: string): void => {
    failure ??= reason;
  };
  const journal = new Journal({ path, sessionId: id, cwd, now: () => at, onFailure });
  for (const { at: time, ...entry } of entries) {
    at = time;
    journal.append(entry);
  }
  await journal.sync();
  journal.close();
  if (failure !== undefined) throw new Error(failure);
}

/** Rejects with an Error in one line. */
export async function renameSession(session: StoredSession, title: string): Promise<void> {
  try {
    await appendEntries(session, [{ type: "title", title: titleLine(title), at: Date.now() }]);
  } catch (error) {
    const reason = messageOf(error);
    throw new Error(`The name cannot be stored: ${reason}`, { cause: error });
  }
}
