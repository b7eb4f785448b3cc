/** Changes to a stored session that no agent has open, and the list of deleted imports. */
import { existsSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { acquireLock, type LockHolder } from "../platform/locks/file-lock.ts";
import { type EntryOf, type JournalEntry, parseEntry } from "./entry.ts";
import { Journal } from "./journal.ts";
import { readLines } from "./journal-lines.ts";
import type { StoredSession } from "./read-journal.ts";
import { isSessionId } from "./session-files.ts";
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

/** Sessions of sub-agents that a journal names; none for an unreadable one. */
export async function subAgentsOf(journal: string): Promise<readonly string[]> {
  const children: string[] = [];
  try {
    for await (const lines of readLines(journal)) {
      for (const { bytes } of lines) {
        if (!bytes.includes('"type":"delegation"')) continue;
        const entry = parseEntry(bytes.toString("utf8"));
        if (entry?.type === "delegation") children.push(entry.child);
      }
    }
  } catch {
    // The journal is gone or unreadable.
  }
  return children;
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
export async function shelveSession(session: StoredSession, shelf: EntryOf<"shelf">["shelf"]): Promise<void> {
  try {
    await appendEntries(session, [{ type: "shelf", shelf, at: Date.now() }]);
  } catch (error) {
    throw new Error(`The session's place in the list cannot be stored: ${messageOf(error)}`, { cause: error });
  }
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

/**
 * List of imported sessions that the user deleted, so that the next import leaves them out. The file is next to the
 * journals, has one id per line and only grows. A torn line is skipped.
 */
const DELETED_IMPORTS = "deleted-imports";

/** Records the deletion of the session in `journal` (absolute) if it was imported. Rejects with the system's error. */
async function noteDeletion(journal: string, id: string): Promise<void> {
  if (!(await wasImported(journal))) return;
  const file = await open(join(dirname(journal), DELETED_IMPORTS), "a", 0o600);
  try {
    // The leading newline ends a torn line.
    await file.appendFile(`\n${id}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Ids of deleted imports in the folder `journals` (absolute). Rejects when the list cannot be read. */
export async function deletedImports(journals: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(journals, DELETED_IMPORTS), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return ""; // no deletion yet
    throw error;
  });
  return new Set(text.split("\n").filter(isSessionId));
}

async function wasImported(journal: string): Promise<boolean> {
  for await (const [head] of readLines(journal)) {
    if (head === undefined) continue; // the line is longer than one read
    const entry = parseEntry(head.bytes.toString("utf8"));
    return entry?.type === "session" && entry.source === "import";
  }
  return false;
}
