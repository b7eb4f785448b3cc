/** Opens the database of the original Hermes Agent (`state.db`). Never writes to it. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sql.js";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { loadSqlite } from "../index/open-database.ts";

const NAME = "state.db";
const SIGNATURE = "SQLite format 3\0";
const GIGABYTE = 1_073_741_824;
/** Size limit, because the file is read into memory. */
const MAX_BYTES = GIGABYTE;
/** Bytes of the database header with the write and read version. 2 means a database with a log. */
const VERSION_BYTES = [18, 19] as const;

/** `path`: the file or its folder, absolute. Throws an Error in one line for people. */
export async function openState(path: string): Promise<Database> {
  const file = await fileOf(path);
  for (const log of [`${file}-journal`, `${file}-wal`]) {
    if ((await sizeOf(log)) === 0) continue;
    throw new Error(
      `${log} has changes that are not in ${file} yet. Close the program that writes them, or start and close it if it was killed. Then import.`,
    );
  }
  const bytes = await readState(file);
  const sql = await loadSqlite();
  const database = new sql.Database(bytes);
  try {
    const found = database.exec("SELECT name FROM sqlite_master WHERE type = 'table'")[0]?.values.flat() ?? [];
    const missing = ["sessions", "messages"].filter((table) => !found.includes(table));
    if (missing.length === 0) return database;
    throw new Error(`${file} is not a database of the Hermes Agent: it has no table ${missing.join(" and ")}.`);
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message.startsWith(file)) throw error;
    throw new Error(`${file} is damaged: ${messageOf(error)}`);
  }
}

async function fileOf(path: string): Promise<string> {
  const found = await stat(path).catch((error: unknown) => {
    throw new Error(unreadable(path, error));
  });
  const file = found.isDirectory() ? join(path, NAME) : path;
  const size = await stat(file).then(
    (state) => state.size,
    (error: unknown) => {
      throw new Error(unreadable(file, error));
    },
  );
  if (size > MAX_BYTES) {
    throw new Error(
      `${file} has ${(size / GIGABYTE).toFixed(1)} GB; up to ${MAX_BYTES / GIGABYTE} GB can be imported.`,
    );
  }
  return file;
}

/** The file, marked as one without a log. */
async function readState(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new Error(unreadable(file, error));
  });
  if (bytes.subarray(0, SIGNATURE.length).toString("latin1") !== SIGNATURE) {
    throw new Error(`${file} is not an SQLite database.`);
  }
  for (const at of VERSION_BYTES) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0; // no file
}

function unreadable(path: string, error: unknown): string {
  if (hasCode(error, "ENOENT", "ENOTDIR")) return `${path} does not exist.`;
  return `${path} cannot be read: ${messageOf(error)}`;
}
