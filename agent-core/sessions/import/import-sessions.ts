/** Imports the sessions of an original Hermes home. A repeated import adds only new sessions. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import type { Database } from "sql.js";
import { replaceFile } from "../../config/home-file.ts";
import { messageOf } from "../../platform/errors.ts";
import { acquireLock } from "../../platform/locks/file-lock.ts";
import type { HermesImported } from "../../protocol/sessions.ts";
import { type EntryOf, JOURNAL_VERSION, type JournalEntry } from "../entry.ts";
import { journalPath } from "../session-files.ts";
import { deletedImports } from "../stored-session.ts";
import { titleLine } from "../titles.ts";
import {
  foreignEntries,
  foreignFolder,
  foreignId,
  foreignUsage,
  isDelegated,
  messageRows,
  type SessionRow,
  sessionRows,
  textOf,
  timeOf,
} from "./foreign-session.ts";
import { openState } from "./open-state.ts";

/** Counts of sessions by result. `failed` names sessions that could not be imported, with the reason. */
export type ImportReport = Omit<HermesImported, "summary">;

export type ImportOptions = {
  /** `state.db` or its folder, absolute. */
  readonly from: string;
  /** Folder of the journals, absolute. */
  readonly journals: string;
  /** Called with the counts of finished and of all sessions. */
  readonly progress: (done: number, total: number) => void;
  /** Stops the import between two sessions. Finished ones stay. */
  readonly signal: AbortSignal;
};

type Outcome = Exclude<keyof ImportReport, "failed">;

/** Rejects with an Error in one line for people when nothing can be read. */
export async function importSessions(options: ImportOptions): Promise<ImportReport> {
  const { from, journals, progress, signal } = options;
  const database = await openState(from);
  try {
    const rows = sessionRows(database).filter((row) => !isDelegated(row));
    const ids = new Map(rows.map((row) => [textOf(row.id), foreignId(row)]));
    const counts: Record<Outcome, number> = { imported: 0, unchanged: 0, deleted: 0 };
    const failed: { id: string; why: string }[] = [];
    await mkdir(journals, { recursive: true, mode: 0o700 });
    const deleted = await deletedImports(journals);
    for (const [done, row] of rows.entries()) {
      if (signal.aborted) break;
      progress(done, rows.length);
      const parent = ids.get(textOf(row.parent_session_id));
      try {
        const outcome = await bringOver(database, row, { journals, deleted, parent });
        if (outcome !== undefined) counts[outcome] += 1;
      } catch (error) {
        failed.push({ id: textOf(row.id) ?? "", why: messageOf(error) });
      }
    }
    progress(rows.length, rows.length);
    return { ...counts, failed };
  } finally {
    database.close();
  }
}

type Target = Pick<ImportOptions, "journals"> & {
  readonly deleted: ReadonlySet<string>;
  readonly parent: string | undefined;
};

/** Undefined for a session without messages. */
async function bringOver(database: Database, row: SessionRow, target: Target): Promise<Outcome | undefined> {
  const id = foreignId(row);
  const path = journalPath(target.journals, id);
  if (path === undefined) throw new Error(`${id} is not the id of a session`);
  const entries = foreignEntries(messageRows(database, row.id), timeOf(row.started_at));
  if (!entries.some((entry) => entry.type === "message")) return undefined;
  if (existsSync(path)) return "unchanged";
  if (target.deleted.has(id)) return "deleted";
  const usage = { type: "usage", ...foreignUsage(row), at: entries.at(-1)?.at ?? 0 } as const;
  await write(path, [head(row, id, target.parent), ...titleEntry(row), ...entries, usage]);
  return "imported";
}

function head(row: SessionRow, id: string, parent: string | undefined): JournalEntry {
  const original = textOf(row.id) ?? "";
  const cwd = foreignFolder(row) ?? homedir();
  const begin = {
    type: "session",
    version: JOURNAL_VERSION,
    id,
    cwd,
    source: "import",
    original,
    origin: "import",
  } as const;
  return { ...begin, ...(parent !== undefined && { parent }), at: timeOf(row.started_at) };
}

function titleEntry(row: SessionRow): readonly EntryOf<"title">[] {
  const title = titleLine(textOf(row.title) ?? "");
  return title ? [{ type: "title", title, at: timeOf(row.started_at) }] : [];
}

/** Writes the whole journal or nothing. */
async function write(path: string, entries: readonly JournalEntry[]): Promise<void> {
  const lock = acquireLock(`${path}.lock`);
  if ("pid" in lock) throw new Error(`another Hermes (process ${lock.pid}) is writing it`);
  try {
    await replaceFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  } finally {
    lock.release();
  }
}
