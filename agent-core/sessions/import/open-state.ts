/** The database of the original Hermes Agent (`state.db`), read as it is: nothing of it is ever written. */
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sql.js";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { loadSqlite } from "../index/load-sqlite.ts";
import { withLog } from "./write-ahead-log.ts";

const NAME = "state.db";
const SIGNATURE = "SQLite format 3\0";
const GIGABYTE = 1_073_741_824;
/** It is read as a whole. */
const MAX_BYTES = GIGABYTE;
/** A writer may copy pages from the log to the file between our two looks. */
const TRIES = 5;

/** `path` is the file or its folder, absolute. Throws an Error in one line for people when it cannot be read. */
export async function openState(path: string): Promise<Database> {
  const file = await fileOf(path);
  if ((await sizeOf(`${file}-journal`)) > 0) {
    throw new Error(`${file} was left in the middle of a write. Start the program that wrote it once, then import.`);
  }
  const bytes = await readState(file);
  const sql = await loadSqlite();
  const database = new sql.Database(bytes);
  try {
    const found = database.exec("SELECT name FROM sqlite_master WHERE type = 'table'")[0]?.values.flat() ?? [];
    const missing = ["sessions", "messages"].filter((table) => !found.includes(table));
    if (missing.length === 0) return database;
    throw new Error(`${file} is a database, but none of the Hermes Agent: it has no table ${missing.join(" and ")}.`);
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

/** The file with what its log has committed; the same moment of both. */
async function readState(file: string): Promise<Uint8Array> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const before = await stamp(file);
    const log = await readFile(`${file}-wal`).catch(() => new Uint8Array()); // none: all is in the file
    const bytes = await readFile(file).catch((error: unknown) => {
      throw new Error(unreadable(file, error));
    });
    if ((await stamp(file)) !== before) continue;
    if (bytes.subarray(0, SIGNATURE.length).toString("latin1") !== SIGNATURE) {
      throw new Error(`${file} is not an SQLite database.`);
    }
    const whole = withLog(bytes, log);
    if (whole === undefined)
      throw new Error(`${file}-wal is damaged; end the program that writes ${file}, then import.`);
    return whole;
  }
  throw new Error(`${file} is being written all the time; end the program that writes it, then import.`);
}

/** Changes with the file, and when its log begins anew. */
async function stamp(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file).catch((error: unknown) => {
    throw new Error(unreadable(file, error));
  });
  return `${size} ${mtimeMs} ${await logHeader(`${file}-wal`)}`;
}

async function logHeader(path: string): Promise<string> {
  const log = await open(path).catch(() => undefined); // none
  if (log === undefined) return "";
  try {
    const { buffer, bytesRead } = await log.read(Buffer.alloc(32), 0, 32, 0);
    return buffer.subarray(0, bytesRead).toString("hex");
  } finally {
    await log.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0; // not there
}

function unreadable(path: string, error: unknown): string {
  if (hasCode(error, "ENOENT", "ENOTDIR")) return `There is no ${path}.`;
  return `${path} cannot be read: ${messageOf(error)}`;
}
