/** The index's file: an SQLite database in memory, with a snapshot on disk that ends with the hash of what it holds. */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Database, SqlJsStatic } from "sql.js";
import { loadSqlite } from "./load-sqlite.ts";
import { INDEX_VERSION, SCHEMA } from "./schema.ts";

/** Against rot, not against people: the quickest that finds every flipped bit. */
const HASH = "sha1";
const HASH_BYTES = 20;
/** What a process left behind that died while it saved; a save takes a second. Milliseconds. */
const STALE_MS = 600_000;

/** `refused`: there is a snapshot, and it is damaged or of another version. */
export type OpenedDatabase = { readonly database: Database; readonly refused: boolean };

/** Opens the snapshot at `path`, else a new, empty database. Rejects when SQLite cannot be loaded. */
export async function openDatabase(path: string): Promise<OpenedDatabase> {
  const sql = await loadSqlite();
  const snapshot = await readFile(path).catch(() => undefined); // missing or unreadable: it is built again
  const database = snapshot && openSnapshot(sql, snapshot);
  return { database: database ?? emptyDatabase(sql), refused: snapshot !== undefined && database === undefined };
}

/** Puts a snapshot in the place of the last one, whole or not at all. Rejects with the system's error. */
export async function saveDatabase(database: Database, path: string): Promise<void> {
  const bytes = database.export();
  const folder = dirname(path);
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(temporary, Buffer.concat([bytes, hashOf(bytes)]), { mode: 0o600 });
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

function openSnapshot(sql: SqlJsStatic, snapshot: Uint8Array): Database | undefined {
  const bytes = snapshot.subarray(0, Math.max(0, snapshot.length - HASH_BYTES));
  if (bytes.length === 0 || !hashOf(bytes).equals(snapshot.subarray(bytes.length))) return undefined;
  const database = new sql.Database(bytes);
  if (database.exec("PRAGMA user_version")[0]?.values[0]?.[0] === INDEX_VERSION) return database;
  database.close();
  return undefined;
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash(HASH).update(bytes).digest();
}

function emptyDatabase(sql: SqlJsStatic): Database {
  const database = new sql.Database();
  database.run(SCHEMA);
  return database;
}
