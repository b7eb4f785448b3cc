/** The index's file: SQLite in WebAssembly, in memory, with a snapshot on disk. Loaded on first use only. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import initSqlJs, { type Database, type SqlJsStatic } from "sql.js";
import { INDEX_VERSION, SCHEMA } from "./schema.ts";

/** Where the bundler put the WebAssembly, seen from this module's chunk; absent when the sources run as they are. */
declare const __SQL_WASM__: string | undefined;

/** Opens the snapshot at `path`; a new, empty database when there is none, it is damaged or of another version. */
export async function openDatabase(path: string): Promise<Database> {
  const sql = await initSqlJs({ wasmBinary: toArrayBuffer(await readFile(wasmPath())) });
  const snapshot = await readFile(path).catch(() => undefined); // missing or unreadable: it is built again
  return (snapshot && openSnapshot(sql, snapshot)) ?? emptyDatabase(sql);
}

/** Puts a snapshot in the place of the last one, whole or not at all. Rejects with the system's error. */
export async function saveDatabase(database: Database, path: string): Promise<void> {
  const bytes = database.export();
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(temporary, bytes, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function openSnapshot(sql: SqlJsStatic, snapshot: Uint8Array): Database | undefined {
  const database = new sql.Database(snapshot);
  try {
    const version = database.exec("PRAGMA user_version")[0]?.values[0]?.[0];
    if (version === INDEX_VERSION && isWhole(database)) return database;
  } catch {
    // Not a database at all: the journals have everything.
  }
  database.close();
  return undefined;
}

/** Reads the first pages of every table; what damage lies deeper is met, and mended, when a statement fails on it. */
function isWhole(database: Database): boolean {
  database.exec(
    "SELECT * FROM sessions LIMIT 1; SELECT * FROM messages LIMIT 1; SELECT docid FROM messages_fts LIMIT 1",
  );
  return true;
}

function emptyDatabase(sql: SqlJsStatic): Database {
  const database = new sql.Database();
  database.run(SCHEMA);
  return database;
}

function wasmPath(): string {
  if (typeof __SQL_WASM__ === "string") return fileURLToPath(new URL(__SQL_WASM__, import.meta.url));
  return createRequire(import.meta.url).resolve("sql.js/dist/sql-wasm.wasm");
}

function toArrayBuffer(buffer: Uint8Array): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}
