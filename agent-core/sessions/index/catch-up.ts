/** Updates the index from the journals. Reads only the bytes that a journal has gained. */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Database } from "sql.js";
import * as z from "zod";
import { entriesIn, readLines } from "../journal-lines.ts";
import { isSessionId } from "../session-files.ts";
import { EntryWriter } from "./entry-writer.ts";
import { rows } from "./open-database.ts";

/** Bytes read per transaction. Full-text search merges its data at each commit, so few large ones are faster. */
const COMMIT_BYTES = 4_194_304;

const known = z.object({ id: z.string(), indexed_bytes: z.number() });

export type Growth = {
  readonly id: string;
  readonly path: string;
  /** Offset of the first new byte. */
  readonly start: number;
  readonly bytes: number;
  /** Last change of the journal, in milliseconds since 1970. */
  readonly writtenAt: number;
};

/** `gone`: sessions whose journal is missing or shorter than the index knows. They are removed first. */
export type Changes = { readonly gone: readonly string[]; readonly growths: readonly Growth[] };

/** Indexed bytes of each journal, by session. */
export type IndexedBytes = Map<string, number>;

/** Read from the database once, since every question needs it. Throws on a damaged index. */
export function indexedBytes(database: Database): IndexedBytes {
  const found = rows(database, known, "SELECT id, indexed_bytes FROM sessions");
  return new Map(found.map((row) => [row.id, row.indexed_bytes]));
}

/** Differences between the journals and the index, most recent journals first. */
export function findChanges(indexed: IndexedBytes, files: ReadonlyMap<string, JournalFile>): Changes {
  // A shorter file replaced the journal.
  const gone = [...indexed].filter(([id, bytes]) => (files.get(id)?.size ?? -1) < bytes).map(([id]) => id);
  for (const id of gone) indexed.delete(id);
  const growths = [...files].flatMap(([id, { path, size, writtenAt }]): Growth[] => {
    const start = indexed.get(id) ?? 0;
    return size === start ? [] : [{ id, path, start, bytes: size - start, writtenAt }];
  });
  return { gone, growths: growths.sort((one, other) => other.writtenAt - one.writtenAt) };
}

export type CatchUpWatch = {
  /** Updated by the run. */
  readonly indexed: IndexedBytes;
  /** Called with the count of finished journals. */
  readonly progress: (done: number) => void;
  /** Awaited between two transactions, when the database can be saved. */
  readonly committed: () => Promise<void>;
  /** Stops the run. Indexed entries stay. */
  readonly signal: AbortSignal;
};

/**
 * Reads the changes. Questions can use the database meanwhile. Skips unreadable journals until the next run. Rejects on
 * a damaged index.
 */
export async function catchUp(database: Database, { gone, growths }: Changes, watch: CatchUpWatch): Promise<void> {
  let transaction = begin(database);
  try {
    for (const id of gone) transaction.writer.forget(id);
    for (const [done, growth] of growths.entries()) {
      if (watch.signal.aborted) break;
      watch.progress(done);
      for await (const { entries, end, bytes } of piecesOf(growth)) {
        transaction.writer.add(growth.id, entries, end);
        watch.indexed.set(growth.id, end);
        transaction.bytes += bytes;
        if (watch.signal.aborted) break;
        if (transaction.bytes < COMMIT_BYTES) continue;
        commit(database, transaction);
        await watch.committed();
        transaction = begin(database);
      }
    }
    commit(database, transaction);
  } catch (error) {
    rollBack(database, transaction);
    throw error;
  }
}

type Transaction = { readonly writer: EntryWriter; bytes: number };

function begin(database: Database): Transaction {
  database.run("BEGIN");
  return { writer: new EntryWriter(database), bytes: 0 };
}

function commit(database: Database, { writer }: Transaction): void {
  writer.free();
  database.run("COMMIT");
}

function rollBack(database: Database, { writer }: Transaction): void {
  try {
    writer.free();
    database.run("ROLLBACK");
  } catch {
    // SQLite rolls back by itself on damage; the caller gets the first error
  }
}

/** Stops at the first unreadable part. */
async function* piecesOf({ path, start }: Growth) {
  let before = start;
  try {
    for await (const { entries, end } of readNewEntries(path, start)) {
      yield { entries, end, bytes: end - before };
      before = end;
    }
  } catch {
    // deleted meanwhile, or not readable for this user
  }
}

/**
 * Entries from byte `start` to the last whole line, with the offset after each piece: a journal can be larger than memory.
 * Skips damaged lines. Throws the system's error.
 */
export async function* readNewEntries(path: string, start: number) {
  for await (const lines of readLines(path, start)) {
    const last = lines.at(-1);
    if (last === undefined) continue; // a long line goes on
    const entries = lines.flatMap(({ bytes }) => entriesIn(bytes.toString("utf8")));
    yield { entries, end: last.start + last.length + 1 };
  }
}

const EXTENSION = ".jsonl";
/** Lock file next to the journal of an open session. */
const LOCK_EXTENSION = ".jsonl.lock";
/** Coarsest time stamp of a file system (FAT). A second change within this time may be invisible. Milliseconds. */
const COARSEST_TIME_MS = 2_000;
/** After this time every file is checked again, because someone may have edited one by hand. Milliseconds. */
const TRUSTED_MS = 10_000;

export type JournalFile = {
  /** Absolute. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
};

/**
 * The journals of a folder, without a `stat` of each file per question. A writer holds a lock file next to its journal,
 * so while the folder is unchanged only locked journals can have changed. Synchronous calls are ten times faster here,
 * and nothing else runs in this thread.
 */
export class JournalFolder {
  readonly #path: string;
  #files = new Map<string, JournalFile>();
  #locked: readonly string[] = [];
  /** Change time of the folder in nanoseconds; undefined while a further change could carry the same time. */
  #changedAt: bigint | undefined;
  #listedAt = 0;

  /** `path`: absolute. It need not exist. */
  constructor(path: string) {
    this.#path = path;
  }

  /** All current journals by session. Throws the system's error when the folder cannot be read. */
  files(): ReadonlyMap<string, JournalFile> {
    const changedAt = statSync(this.#path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    const isTrusted = Math.abs(Date.now() - this.#listedAt) < TRUSTED_MS;
    if (isTrusted && changedAt !== undefined && changedAt === this.#changedAt)
      for (const id of this.#locked) this.#stat(id);
    else this.#statAll(changedAt);
    return this.#files;
  }

  #statAll(changedAt: bigint | undefined): void {
    this.#files = new Map();
    this.#listedAt = Date.now();
    const age = this.#listedAt - Number((changedAt ?? 0n) / 1_000_000n);
    this.#changedAt = age > COARSEST_TIME_MS ? changedAt : undefined;
    const names = changedAt === undefined ? [] : readdirSync(this.#path); // no folder: no session yet
    for (const name of names) if (name.endsWith(EXTENSION)) this.#stat(basename(name, EXTENSION));
    this.#locked = names.filter((name) => name.endsWith(LOCK_EXTENSION)).map((name) => basename(name, LOCK_EXTENSION));
  }

  #stat(id: string): void {
    if (!isSessionId(id)) return;
    const path = join(this.#path, `${id}${EXTENSION}`);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      this.#files.delete(id); // deleted meanwhile, or not created yet
    else this.#files.set(id, { path, size: found.size, writtenAt: found.mtimeMs });
  }
}
