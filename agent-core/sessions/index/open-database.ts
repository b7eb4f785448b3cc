/** Opens and saves the in-memory database of the index. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import initSqlJs, { type BindParams, type Database, type SqlJsStatic, type SqlValue } from "sql.js";
import type * as z from "zod";
import { openSnapshot, type Snapshot, trailerOf } from "./index-snapshot.ts";

/** Age of a temporary file whose process died during a save. A save takes about one second. Milliseconds. */
const STALE_MS = 600_000;

export type OpenedDatabase = {
  readonly database: Database;
  /**
   * The file that the database reads on demand; undefined for a new database. Damage shows at the first read of the damaged part.
   */
  readonly snapshot: Snapshot | undefined;
  /** True when a snapshot exists but is damaged or of another version. */
  readonly refused: boolean;
};

/** Opens the snapshot at `path`, or a new empty database. Rejects when SQLite cannot be loaded. */
export async function openDatabase(path: string): Promise<OpenedDatabase> {
  const sql = await loadSqlite();
  const found = snapshotAt(path);
  if (typeof found === "object") {
    const database = fromSnapshot(sql, found);
    if (database !== undefined) return { database, snapshot: found, refused: false };
    found.close();
  }
  return { database: emptyDatabase(sql), snapshot: undefined, refused: found !== "missing" };
}

/** Replaces the snapshot, completely or not at all. Rejects with the system's error. */
export async function saveDatabase(database: Database, path: string): Promise<void> {
  const bytes = database.export();
  const folder = dirname(path);
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeParts(temporary, [bytes, trailerOf(bytes)]);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await removeStale(folder, `${basename(path)}.`);
}

async function removeStale(folder: string, prefix: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith(".tmp"));
  for (const path of left.map((name) => join(folder, name))) {
    const written = (await stat(path).catch(() => undefined))?.mtimeMs; // its own process removed it
    if (written !== undefined && Date.now() - written > STALE_MS) await rm(path, { force: true });
  }
}

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
}

function snapshotAt(path: string): Snapshot | "missing" | "damaged" {
  try {
    return openSnapshot(path) ?? "damaged";
  } catch {
    return "missing"; // missing or unreadable: the index is built again
  }
}

function fromSnapshot(sql: SqlJsStatic, snapshot: Snapshot): Database | undefined {
  const database = new sql.Database(snapshot);
  try {
    if (database.exec("PRAGMA user_version")[0]?.values[0]?.[0] === INDEX_VERSION) return database;
  } catch {
    // damaged at the beginning: handled like another version
  }
  database.close();
  return undefined;
}

function emptyDatabase(sql: SqlJsStatic): Database {
  const database = new sql.Database();
  database.run(SCHEMA);
  return database;
}

/** Path of the WebAssembly file in the bundle, relative to this module's chunk; absent when the sources run. */
declare const __SQL_WASM__: string | undefined;

let loaded: Promise<SqlJsStatic> | undefined;

/** Loads SQLite on first use, in the thread of the index. Rejects with the system's error. */
export function loadSqlite(): Promise<SqlJsStatic> {
  loaded ??= readFile(wasmPath()).then((bytes) => initSqlJs({ wasmBinary: new Uint8Array(bytes).buffer }));
  return loaded;
}

function wasmPath(): string {
  if (typeof __SQL_WASM__ === "string") return fileURLToPath(new URL(__SQL_WASM__, import.meta.url));
  return createRequire(import.meta.url).resolve("sql.js/dist/sql-wasm.wasm");
}

/** Changes with the tables and their contents. SQLite keeps it as `user_version`. Another version is built again. */
export const INDEX_VERSION = 11;

/**
 * `position` is the message's position in its session, from 0. Unlike a row id it survives a rebuild. `is_readable` is
 * 0 for a journal of a later format and for a sub-agent's. `cwd` is empty when the journal's first line is damaged. Times are milliseconds
 * since 1970. `indexed_bytes` is the length of the indexed part. `root` is the first session of a chain of forks, or
 * the session itself. `cost_usd` is NULL once a turn's cost is unknown. `shown_count` counts prompts and answers.
 * `folded_title` is the title in its compared form. `shelf` is 'pinned', 'archived' or NULL. `source` is NULL for a session that began here. `shown` of a
 * message is 'prompt', 'answer' or NULL. `stands` is 0 after the message was taken back. Texts have a table of their
 * own: a search scans hundreds of messages and reads few texts. `prefix` stores the beginnings of words. Without it,
 * SQLite merges the lists of all words that begin so, which takes a second for a dense beginning. `outcomes` has a row for
 * each day of a user's session, as JSON; `progress` is the state between two entries (session-outcomes.ts).
 */
const SCHEMA = `
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  indexed_bytes INTEGER NOT NULL,
  root TEXT NOT NULL,
  is_readable INTEGER NOT NULL DEFAULT 1,
  cwd TEXT NOT NULL DEFAULT '',
  source TEXT,
  origin TEXT NOT NULL DEFAULT 'user',
  progress TEXT,
  title TEXT,
  folded_title TEXT,
  shelf TEXT,
  model TEXT,
  started_at INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL DEFAULT 0,
  next_position INTEGER NOT NULL DEFAULT 0,
  shown_count INTEGER NOT NULL DEFAULT 0,
  last_shown TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_input_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL DEFAULT 0
);
CREATE INDEX sessions_by_update ON sessions(updated_at DESC, id DESC);
CREATE INDEX sessions_by_root ON sessions(root);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  shown TEXT,
  stands INTEGER NOT NULL DEFAULT 1,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX messages_by_place ON messages(session, position);
CREATE TABLE outcomes(session INTEGER NOT NULL, day TEXT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY(session, day));
CREATE INDEX outcomes_by_day ON outcomes(day);
CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE VIRTUAL TABLE messages_fts USING fts4(content="texts", text, tokenize=unicode61, order=desc, prefix="3,4,5");
PRAGMA user_version = ${INDEX_VERSION};
`;

/** Runs `statement` and gives its rows, each parsed by `schema`. Throws on a damaged file or a row that does not fit. */
export function rows<Row>(
  database: Database,
  schema: z.ZodType<Row>,
  statement: string,
  parameters: BindParams = [],
): readonly Row[] {
  const prepared = database.prepare(statement, parameters);
  try {
    const names = prepared.getColumnNames(); // asked for once: each of them is copied out of SQLite's memory
    const found: Row[] = [];
    while (prepared.step()) {
      const row: Record<string, SqlValue | undefined> = {};
      for (const [at, value] of prepared.get().entries()) row[names[at] ?? ""] = value;
      found.push(schema.parse(row));
    }
    return found;
  } finally {
    prepared.free();
  }
}
