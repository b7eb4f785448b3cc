/** The index's database: in memory, with a snapshot on disk that it is opened from and saved to. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Database, SqlJsStatic } from "sql.js";
import { loadSqlite } from "./load-sqlite.ts";
import { INDEX_VERSION, SCHEMA } from "./schema.ts";
import { openSnapshot, type Snapshot, trailerOf } from "./snapshot.ts";

/** What a process left behind that died while it saved; a save takes a second. Milliseconds. */
const STALE_MS = 600_000;

export type OpenedDatabase = {
  readonly database: Database;
  /** What the database is read from as it is asked; undefined when it is new. Its damage shows when it is come upon. */
  readonly snapshot: Snapshot | undefined;
  /** There is a snapshot, and it is damaged or of another version. */
  readonly refused: boolean;
};

/** Opens the snapshot at `path`, else a new, empty database. Rejects when SQLite cannot be loaded. */
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

/** Puts a snapshot in the place of the last one, whole or not at all. Rejects with the system's error. */
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
    const written = (await stat(path).catch(() => undefined))?.mtimeMs; // gone: its process has done it
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
    return "missing"; // or unreadable: it is built again
  }
}

function fromSnapshot(sql: SqlJsStatic, snapshot: Snapshot): Database | undefined {
  const database = new sql.Database(snapshot);
  try {
    if (database.exec("PRAGMA user_version")[0]?.values[0]?.[0] === INDEX_VERSION) return database;
  } catch {
    // damaged where it begins: it is refused as one of another version is
  }
  database.close();
  return undefined;
}

function emptyDatabase(sql: SqlJsStatic): Database {
  const database = new sql.Database();
  database.run(SCHEMA);
  return database;
}
