/** Opens the database of the original Hermes Agent (`state.db`). Never writes to it. */
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sql.js";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { loadSqlite } from "../index/open-database.ts";

const NAME = "state.db";
const SIGNATURE = "SQLite format 3\0";
const GIGABYTE = 1_073_741_824;
/** Size limit, because the file is read into memory. */
const MAX_BYTES = GIGABYTE;
/** Attempts: a writer may copy pages from the log to the file between two reads. */
const TRIES = 5;

/** `path`: the file or its folder, absolute. Throws an Error in one line for people. */
export async function openState(path: string): Promise<Database> {
  const file = await fileOf(path);
  if ((await sizeOf(`${file}-journal`)) > 0) {
    throw new Error(`A write to ${file} was interrupted. Start the program that wrote it once, then import.`);
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

/** The file with the committed pages of its log, both from the same moment. */
async function readState(file: string): Promise<Uint8Array> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const before = await stamp(file);
    const log = await readFile(`${file}-wal`).catch(() => new Uint8Array()); // no log: the file is complete
    const bytes = await readFile(file).catch((error: unknown) => {
      throw new Error(unreadable(file, error));
    });
    if ((await stamp(file)) !== before) continue;
    if (bytes.subarray(0, SIGNATURE.length).toString("latin1") !== SIGNATURE) {
      throw new Error(`${file} is not an SQLite database.`);
    }
    const whole = withLog(bytes, log);
    if (whole === undefined)
      throw new Error(`${file}-wal is damaged; close the program that writes ${file}, then import.`);
    return whole;
  }
  throw new Error(`${file} keeps changing; close the program that writes it, then import.`);
}

/** Changes with the file and with each restart of its log. */
async function stamp(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file).catch((error: unknown) => {
    throw new Error(unreadable(file, error));
  });
  return `${size} ${mtimeMs} ${await logHeader(`${file}-wal`)}`;
}

async function logHeader(path: string): Promise<string> {
  const log = await open(path).catch(() => undefined); // no log
  if (log === undefined) return "";
  try {
    const { buffer, bytesRead } = await log.read(Buffer.alloc(32), 0, 32, 0);
    return buffer.subarray(0, bytesRead).toString("hex");
  } finally {
    await log.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0; // no file
}

function unreadable(path: string, error: unknown): string {
  if (hasCode(error, "ENOENT", "ENOTDIR")) return `${path} does not exist.`;
  return `${path} cannot be read: ${messageOf(error)}`;
}

/**
 * The write-ahead log of an SQLite database: committed pages in `-wal` that are not yet in the file. Format:
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SMALLEST_PAGE_BYTES = 512;
/** Checksums use the byte order of the writing machine. The lowest bit of the magic number names that order. */
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
/** Bytes of the database header with the write and read version. 1 means a database without a log. */
const VERSION_BYTES = [18, 19] as const;

type Sums = readonly [number, number];

/**
 * The database with the log's committed pages. A torn or older frame ends the log. The result needs no log. Undefined
 * when `log` is not a write-ahead log.
 */
export function withLog(database: Uint8Array, log: Uint8Array): Uint8Array | undefined {
  if (log.length === 0) return withoutLog(database);
  if (log.length < HEADER_BYTES) return undefined;
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const magic = view.getUint32(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return undefined;
  const committed = committedPages(log, view, magic === MAGIC_LITTLE);
  return withoutLog(committed === undefined ? database : patched(database, committed.pages, committed.size));
}

/** Undefined when the log has no commit. `size`: bytes of the database. */
function committedPages(
  log: Uint8Array,
  view: DataView,
  isLittle: boolean,
): { readonly pages: readonly Page[]; readonly size: number } | undefined {
  const pageBytes = view.getUint32(8);
  if (pageBytes < SMALLEST_PAGE_BYTES || pageBytes % SMALLEST_PAGE_BYTES !== 0) return undefined;
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let sums = checksum(view, 0, 24, { isLittle, sums: [0, 0] });
  if (!isAt(view, 24, sums)) return undefined;
  const salts = [view.getUint32(16), view.getUint32(20)] as const;
  const frames: Page[] = [];
  let committed = { frames: 0, size: 0 };
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    if (!isAt(view, at + 8, salts)) break;
    sums = checksum(view, at, 8, { isLittle, sums });
    sums = checksum(view, at + FRAME_HEADER_BYTES, pageBytes, { isLittle, sums });
    if (!isAt(view, at + 16, sums)) break;
    const bytes = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    frames.push({ start: (view.getUint32(at) - 1) * pageBytes, bytes });
    // The last frame of a commit has the page count of the database.
    const pages = view.getUint32(at + 4);
    if (pages > 0) committed = { frames: frames.length, size: pages * pageBytes };
  }
  if (committed.frames === 0) return undefined;
  return { pages: frames.slice(0, committed.frames), size: committed.size };
}

function isAt(view: DataView, at: number, [first, second]: Sums): boolean {
  return view.getUint32(at) === first && view.getUint32(at + 4) === second;
}

type Page = { readonly start: number; readonly bytes: Uint8Array };

function patched(database: Uint8Array, pages: readonly Page[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  whole.set(database.subarray(0, size));
  for (const { start, bytes } of pages) if (start < size) whole.set(bytes, start);
  return whole;
}

/** The same database, marked as one without a log. */
function withoutLog(database: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(database);
  for (const at of VERSION_BYTES) if (bytes[at] === 2) bytes[at] = 1;
  return bytes;
}

function checksum(
  view: DataView,
  start: number,
  length: number,
  { isLittle, sums: [first, second] }: { readonly isLittle: boolean; readonly sums: Sums },
): Sums {
  let [one, other] = [first, second];
  for (let at = start; at < start + length; at += 8) {
    one = (one + view.getUint32(at, isLittle) + other) >>> 0;
    other = (other + view.getUint32(at + 4, isLittle) + one) >>> 0;
  }
  return [one, other];
}
