/** Imports the sessions of an original Hermes home. A repeated import adds only new messages. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import type { Database } from "sql.js";
import { replaceFile } from "../../config/home-file.ts";
import { messageOf } from "../../platform/errors.ts";
import { acquireLock } from "../../platform/locks/file-lock.ts";
import type { HermesImported } from "../../protocol/sessions.ts";
import { type EntryOf, JOURNAL_VERSION, type JournalEntry } from "../entry.ts";
import { readEntries, readJournal } from "../read-journal.ts";
import { journalPath } from "../session-files.ts";
import { appendEntries, deletedImports } from "../stored-session.ts";
import { titleLine } from "../titles.ts";
import { sumUsage } from "../usage-ledger.ts";
import {
  type ForeignEntry,
  type ForeignUsage,
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
  /** Sessions that are open here. The import leaves them alone. */
  readonly open: readonly string[];
  /** True: also import sessions whose import was deleted. */
  readonly again: boolean;
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
    const counts: Record<Outcome, number> = { imported: 0, extended: 0, unchanged: 0, diverged: 0, deleted: 0 };
    const failed: { id: string; why: string }[] = [];
    await mkdir(journals, { recursive: true, mode: 0o700 });
    const deleted = options.again ? new Set<string>() : await deletedImports(journals);
    for (const [done, row] of rows.entries()) {
      if (signal.aborted) break;
      progress(done, rows.length);
      const parent = ids.get(textOf(row.parent_session_id));
      try {
        const outcome = await bringOver(database, row, { journals, open: options.open, deleted, parent });
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

type Target = Pick<ImportOptions, "journals" | "open"> & {
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
  if (existsSync(path)) return target.open.includes(id) ? "diverged" : extend(path, entries, row);
  if (target.deleted.has(id)) return "deleted";
  await write(path, [head(row, id, target.parent), ...titleEntry(row), ...entries, ...usageEntry(row, entries)]);
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

/** Usage of the session, minus the part that the journal has. */
function usageEntry(
  row: SessionRow,
  entries: readonly ForeignEntry[],
  known?: ForeignUsage,
): readonly EntryOf<"usage">[] {
  const usage = foreignUsage(row);
  const rest = (now: number, before = 0): number => Math.max(0, now - before);
  const { costUsd, model } = usage;
  const left: ForeignUsage = {
    model,
    inputTokens: rest(usage.inputTokens, known?.inputTokens),
    outputTokens: rest(usage.outputTokens, known?.outputTokens),
    cachedInputTokens: rest(usage.cachedInputTokens, known?.cachedInputTokens),
    reasoningTokens: rest(usage.reasoningTokens, known?.reasoningTokens),
    ...(costUsd !== undefined && { costUsd: rest(costUsd, known?.costUsd) }),
  };
  return [{ type: "usage", ...left, at: entries.at(-1)?.at ?? 0 }];
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

async function extend(path: string, entries: readonly ForeignEntry[], row: SessionRow): Promise<Outcome> {
  const read = await readJournal(path);
  if (!read.ok) throw new Error(read.message);
  const stored = await readEntries(path);
  const last = lastImported(stored);
  if (last === undefined) return "diverged";
  const first = entries.findIndex((entry) => entry.type === "message" && (entry.imported ?? 0) > last);
  if (first < 0) return "unchanged";
  // The display of a tool call precedes its result.
  const fresh = entries.slice(entries[first - 1]?.type === "tool" ? first - 1 : first);
  const usages = stored.filter((entry) => entry.type === "usage");
  const { costUsd, ...tokens } = sumUsage(usages);
  const known = { model: "", ...tokens, ...(costUsd !== undefined && { costUsd }) };
  await appendEntries(read.session, [...fresh, ...usageEntry(row, fresh, known)]);
  return "extended";
}

/** Number of the last imported message; undefined when the session continued here. */
function lastImported(entries: readonly JournalEntry[]): number | undefined {
  let last = 0;
  for (const entry of entries) {
    if (entry.type === "rewind") return undefined;
    if (entry.type !== "message") continue;
    if (entry.imported === undefined) return undefined;
    last = entry.imported;
  }
  return last;
}
