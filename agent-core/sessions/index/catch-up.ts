/** Brings the index up to the journals, reading only what they have grown by. */
import type { Database } from "sql.js";
import * as z from "zod";
import { EntryWriter } from "./entry-writer.ts";
import type { JournalFile } from "./journal-folder.ts";
import { readNewEntries } from "./read-new-entries.ts";
import { rows } from "./rows.ts";

/** Read between two commits: full-text search merges what each of them adds, so few large ones are far quicker. */
const COMMIT_BYTES = 4_194_304;

const known = z.object({ id: z.string(), indexed_bytes: z.number() });

export type Growth = {
  readonly id: string;
  readonly path: string;
  /** Where reading begins. Bytes. */
  readonly start: number;
  readonly bytes: number;
  /** When the journal was written last, in milliseconds since 1970. */
  readonly writtenAt: number;
};

/** `gone`: sessions without a journal, or with an older one than was read: they are forgotten first. */
export type Changes = { readonly gone: readonly string[]; readonly growths: readonly Growth[] };

/** How far each journal is read, by session. Bytes. */
export type IndexedBytes = Map<string, number>;

/** As the database says; every question needs it, so it is read once. Throws on a damaged index. */
export function indexedBytes(database: Database): IndexedBytes {
  const found = rows(database, known, "SELECT id, indexed_bytes FROM sessions");
  return new Map(found.map((row) => [row.id, row.indexed_bytes]));
}

/** What the journals have that the index has not; what was written last comes first. */
export function findChanges(indexed: IndexedBytes, files: ReadonlyMap<string, JournalFile>): Changes {
  // Written anew: an older copy was put in its place.
  const gone = [...indexed].filter(([id, bytes]) => (files.get(id)?.size ?? -1) < bytes).map(([id]) => id);
  for (const id of gone) indexed.delete(id);
  const growths = [...files].flatMap(([id, { path, size, writtenAt }]): Growth[] => {
    const start = indexed.get(id) ?? 0;
    return size === start ? [] : [{ id, path, start, bytes: size - start, writtenAt }];
  });
  return { gone, growths: growths.sort((one, other) => other.writtenAt - one.writtenAt) };
}

export type CatchUpWatch = {
  /** Kept up to date. */
  readonly indexed: IndexedBytes;
  /** Journals that are done. */
  readonly progress: (done: number) => void;
  /** Called between two transactions, when the database may be saved; the promise is waited for. */
  readonly committed: () => Promise<void>;
  /** Ends it early; what was read stays. */
  readonly signal: AbortSignal;
};

/**
 * Reads what has changed. Others may ask the database meanwhile: they find what is there. A journal that cannot be read
 * is left for the next time. Rejects on a damaged index.
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
    // SQLite has rolled back by itself, as it does on damage; what failed is what the caller is told
  }
}

/** As far as the journal can be read. */
async function* piecesOf({ path, start }: Growth) {
  let before = start;
  const pieces = readNewEntries(path, start);
  try {
    for (;;) {
      const next = await pieces.next().catch(() => undefined); // gone meanwhile, or not ours to read
      if (next === undefined || next.done) return;
      yield { ...next.value, bytes: next.value.end - before };
      before = next.value.end;
    }
  } finally {
    await pieces.return(undefined);
  }
}
