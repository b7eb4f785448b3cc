/** Brings the index up to the journals, reading only what they have grown by. */
import { readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Database } from "sql.js";
import * as z from "zod";
import { JOURNAL_VERSION, type JournalEntry } from "../entry.ts";
import { journalPath } from "../session-id.ts";
import { messageText } from "./message-text.ts";
import { readNewEntries } from "./read-new-entries.ts";
import { rows } from "./rows.ts";

const EXTENSION = ".jsonl";

/** Journals done, and how many there are to do. */
export type Progress = (done: number, total: number) => void;

const known = z.object({ id: z.string(), indexed_bytes: z.number() });

type Growth = { readonly id: string; readonly path: string; readonly start: number };

/** True when anything changed. A journal that cannot be read is left for the next time. Throws on a damaged index. */
export async function catchUp(database: Database, folder: string, progress: Progress): Promise<boolean> {
  const indexed = new Map(
    rows(database, known, "SELECT id, indexed_bytes FROM sessions").map((row) => [row.id, row.indexed_bytes]),
  );
  const sizes = await journalSizes(folder);
  const gone = [...indexed.keys()].filter((id) => !sizes.has(id));
  for (const id of gone) forget(database, id);
  const growths = [...sizes].flatMap(([id, { path, size }]): Growth[] => {
    const start = indexed.get(id) ?? 0;
    if (size < start) forget(database, id); // written anew: an older copy was put in its place
    return size === start ? [] : [{ id, path, start: size < start ? 0 : start }];
  });
  for (const [done, growth] of growths.entries()) {
    progress(done, growths.length);
    const fresh = await readNewEntries(growth.path, growth.start).catch(() => undefined); // gone or not ours to read
    if (fresh !== undefined) transact(database, () => add(database, growth.id, fresh.entries, fresh.end));
  }
  return gone.length > 0 || growths.length > 0;
}

async function journalSizes(folder: string): Promise<ReadonlyMap<string, { path: string; size: number }>> {
  const names = await readdir(folder).catch(() => []); // no session yet
  const sizes = await Promise.all(
    names.map(async (name) => {
      const id = basename(name, EXTENSION);
      const path = name.endsWith(EXTENSION) ? journalPath(folder, id) : undefined;
      const size = path === undefined ? undefined : await sizeOf(path);
      return path === undefined || size === undefined ? [] : [[id, { path, size }] as const];
    }),
  );
  // By time of birth: a fork comes after what it was forked from.
  return new Map(sizes.flat().sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

function forget(database: Database, id: string): void {
  transact(database, () => {
    database.run("DELETE FROM messages_fts WHERE docid IN (SELECT id FROM messages WHERE session_id = ?)", [id]);
    database.run("DELETE FROM messages WHERE session_id = ?", [id]);
    database.run("DELETE FROM sessions WHERE id = ?", [id]);
  });
}

function add(database: Database, id: string, entries: readonly JournalEntry[], end: number): void {
  database.run("INSERT OR IGNORE INTO sessions(id, root, indexed_bytes) VALUES(?, ?, 0)", [id, id]);
  for (const entry of entries) addEntry(database, id, entry);
  const last = entries.at(-1)?.at ?? 0;
  database.run("UPDATE sessions SET indexed_bytes = ?, updated_at = max(updated_at, ?) WHERE id = ?", [end, last, id]);
}

function addEntry(database: Database, id: string, entry: JournalEntry): void {
  switch (entry.type) {
    case "session":
      database.run(
        `UPDATE sessions SET is_readable = ?, cwd = ?, started_at = ?,
         root = coalesce((SELECT root FROM sessions WHERE id = ?), ?) WHERE id = ?`,
        [entry.version <= JOURNAL_VERSION ? 1 : 0, entry.cwd, entry.at, entry.parent ?? id, entry.parent ?? id, id],
      );
      return;
    case "message":
      addMessage(database, id, entry);
      return;
    case "title":
      database.run("UPDATE sessions SET title = ? WHERE id = ?", [entry.title, id]);
      return;
    case "model":
      database.run("UPDATE sessions SET model = ? WHERE id = ?", [entry.choice, id]);
      return;
    case "usage":
      database.run(
        `UPDATE sessions SET model = ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
         cached_input_tokens = cached_input_tokens + ?, reasoning_tokens = reasoning_tokens + ?, cost_usd = cost_usd + ?
         WHERE id = ?`,
        [
          entry.model,
          entry.inputTokens,
          entry.outputTokens,
          entry.cachedInputTokens,
          entry.reasoningTokens,
          entry.costUsd ?? null,
          id,
        ],
      );
      return;
    default:
      return; // nothing that one searches for
  }
}

function addMessage(database: Database, id: string, entry: Extract<JournalEntry, { type: "message" }>): void {
  const text = messageText(entry.message);
  database.run(
    `INSERT INTO messages(session_id, position, role, text, at)
     SELECT id, max(message_count, ?), ?, ?, ? FROM sessions WHERE id = ?`,
    [entry.position ?? 0, entry.message.role, text, entry.at, id],
  );
  database.run("INSERT INTO messages_fts(docid, text) VALUES(last_insert_rowid(), ?)", [text]);
  database.run("UPDATE sessions SET message_count = max(message_count, ?) + 1 WHERE id = ?", [entry.position ?? 0, id]);
}

function transact(database: Database, work: () => void): void {
  database.run("BEGIN");
  try {
    work();
    database.run("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: Database): void {
  try {
    database.run("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself, as it does on damage; what failed is what the caller is told
  }
}
