/**
 * The index over all sessions: derived from their journals, in memory, with a snapshot on disk that may be deleted.
 * Two processes may share a home: each reads what the other's journals have grown by, and whoever saves last leaves a
 * snapshot that the next one catches up from.
 */
import { rm } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import type { Database } from "sql.js";
import * as z from "zod";
import { type Changes, catchUp, findChanges, type IndexedBytes, indexedBytes } from "./catch-up.ts";
import { JournalFolder } from "./journal-folder.ts";
import { openDatabase, saveDatabase } from "./open-database.ts";
import type { Building } from "./questions.ts";
import type { Snapshot } from "./snapshot.ts";

/** A snapshot is written at most this often. Milliseconds. */
const SAVE_INTERVAL_MS = 30_000;
/** Up to here an answer waits until the index has caught up; more is read while it answers from what is there. */
const WAITED_JOURNALS = 100;
const WAITED_BYTES = 4_194_304;
/** So much of a longer reading is waited for: the sessions used last, or this time. */
const FIRST_JOURNALS = 50;
const FIRST_MS = 100;
/** Progress is told this often at most. */
const TELL_INTERVAL_MS = 250;
/** Of a snapshot so much is read between two questions once the first is answered: about a millisecond's worth. */
const BLOCKS_A_TURN = 8;
/** An index that cannot be built so often is not tried again. */
const MAX_FAILURES = 2;

export type IndexStoreOptions = {
  /** Folder of the journals, absolute. */
  readonly journals: string;
  /** The snapshot, absolute. */
  readonly file: string;
  /** One line for the log: a snapshot that could not be written or read. */
  readonly log: (line: string) => void;
  /** Told when a long reading begins, how far it is, and when it is done (`done` is `total`). */
  readonly building: (building: Building) => void;
};

/** A long reading in the background. */
type Build = {
  building: Building;
  /** There is something to show. */
  readonly first: Promise<void>;
  /** Settles when it is over, well or not. */
  readonly over: Promise<void>;
};

export class IndexStore {
  readonly #options: IndexStoreOptions;
  readonly #journals: JournalFolder;
  readonly #closing = new AbortController();
  #database: Database | undefined;
  /** What the database was opened from. */
  #snapshot: Snapshot | undefined;
  /** Settles when all of the snapshot is read, or none of it is needed any more. */
  #readingOn: Promise<void> | undefined;
  /** What the database says, while nothing has failed. */
  #indexed: IndexedBytes | undefined;
  #build: Build | undefined;
  /** Questions are answered one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #isChanged = false as boolean;
  #savedAt = Date.now();
  #saving: NodeJS.Timeout | undefined;

  constructor(options: IndexStoreOptions) {
    this.#options = options;
    this.#journals = new JournalFolder(options.journals);
  }

  /** Catches up, or begins to, and answers. Rejects when SQLite cannot be loaded. */
  ask<Value>(question: (database: Database) => Value): Promise<{ value: Value; building: Building | undefined }> {
    const answer = this.#queue.then(() => this.#answer(question));
    this.#queue = answer.catch(() => undefined); // the asker is told
    return answer;
  }

  /** Ends what is being read, and saves what is not saved yet. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#saving);
    await this.#queue;
    await this.#build?.over;
    await this.#readingOn;
    await this.#save();
    this.#closeDatabase();
  }

  async #answer<Value>(question: (database: Database) => Value) {
    try {
      return await this.#ask(question);
    } catch (error) {
      // Damage in memory, or a row that an earlier defect put in, shows itself only when a statement comes upon it.
      if (!isDamage(error)) throw error;
      await this.#build?.over; // it writes to what is to be closed
      await this.#discard(error);
      return this.#ask(question);
    }
  }

  async #ask<Value>(question: (database: Database) => Value) {
    await this.#catchUp();
    const value = question(await this.#open());
    this.#readingOn ??= this.#readOn();
    return { value, building: this.#build?.building };
  }

  /** Nobody waits for what was not asked for; but it is read at last, so that the file need not stay. */
  async #readOn(): Promise<void> {
    const { signal } = this.#closing;
    try {
      while (!signal.aborted && this.#snapshot?.readOn(BLOCKS_A_TURN) === false) await turn();
    } catch {
      // Damage: whoever comes upon it by a question has the index built again.
      if (!signal.aborted) void this.ask(() => this.#snapshot?.readOn(Number.POSITIVE_INFINITY)).catch(() => undefined);
    }
  }

  async #open(): Promise<Database> {
    if (this.#database !== undefined) return this.#database;
    const { database, snapshot, refused } = await openDatabase(this.#options.file);
    if (refused) this.#options.log("The index of sessions is damaged or of another version; it is built again.");
    this.#database = database;
    this.#snapshot = snapshot;
    return database;
  }

  async #catchUp(): Promise<void> {
    if (this.#build !== undefined) return this.#build.first;
    if (this.#closing.signal.aborted) return;
    const database = await this.#open();
    this.#indexed ??= indexedBytes(database);
    const changes = findChanges(this.#indexed, this.#journals.files());
    if (changes.gone.length + changes.growths.length === 0) return;
    if (isShort(changes)) {
      await this.#read(database, changes, () => undefined);
      this.#saveSoon();
      return;
    }
    if (this.#failures >= MAX_FAILURES) throw new Error("The index of sessions could not be built; the log says why.");
    this.#build = this.#buildFrom(database, changes);
    await this.#build.first;
  }

  #buildFrom(database: Database, changes: Changes): Build {
    const total = changes.growths.length;
    const first = Promise.withResolvers<void>();
    setTimeout(first.resolve, FIRST_MS);
    const build = { building: { done: 0, total }, first: first.promise };
    this.#options.building(build.building);
    let toldAt = Date.now();
    const reading = this.#read(database, changes, (done) => {
      build.building = { done, total };
      if (done >= FIRST_JOURNALS) first.resolve();
      if (Date.now() - toldAt < TELL_INTERVAL_MS) return;
      toldAt = Date.now();
      this.#options.building(build.building);
    });
    const over = reading
      .then(() => this.#save())
      .catch((error: unknown) => {
        this.#failures += 1;
        return this.#discard(error);
      })
      .finally(() => {
        this.#build = undefined;
        first.resolve();
        if (!this.#closing.signal.aborted) this.#options.building({ done: total, total });
      });
    return Object.assign(build, { over });
  }

  async #read(database: Database, changes: Changes, progress: (done: number) => void): Promise<void> {
    this.#isChanged = true;
    const { signal } = this.#closing;
    const committed = async (): Promise<void> => {
      if (Date.now() - this.#savedAt >= SAVE_INTERVAL_MS) await this.#save();
    };
    const indexed = this.#indexed ?? indexedBytes(database);
    // Until it is through, what the map says may be rolled back.
    this.#indexed = undefined;
    await catchUp(database, changes, { indexed, progress, committed, signal });
    this.#indexed = indexed;
  }

  /** The journals have everything: the next question builds the index anew. */
  async #discard(error: unknown): Promise<void> {
    this.#options.log(`The index of sessions is built again: ${String(error)}`);
    this.#closeDatabase();
    this.#indexed = undefined;
    await rm(this.#options.file, { force: true, recursive: true });
  }

  #closeDatabase(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#snapshot?.close();
    this.#snapshot = undefined;
  }

  #saveSoon(): void {
    if (this.#closing.signal.aborted) return;
    this.#saving ??= setTimeout(() => {
      // A long reading saves by itself.
      this.#queue = this.#queue.then(() => (this.#build === undefined ? this.#save() : undefined));
    }, SAVE_INTERVAL_MS).unref();
  }

  async #save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    if (this.#database === undefined || !this.#isChanged) return;
    this.#isChanged = false;
    this.#savedAt = Date.now();
    try {
      this.#snapshot?.readOn(Number.POSITIVE_INFINITY);
      await saveDatabase(this.#database, this.#options.file);
    } catch (error) {
      this.#options.log(`The index of sessions could not be saved: ${String(error)}`);
    }
  }
}

function isShort({ growths }: Changes): boolean {
  const bytes = growths.reduce((sum, growth) => sum + growth.bytes, 0);
  return growths.length <= WAITED_JOURNALS && bytes <= WAITED_BYTES;
}

function isDamage(error: unknown): boolean {
  if (error instanceof z.ZodError) return true; // a row that we did not write like this
  return (
    error instanceof Error &&
    /malformed|not a database|corrupt|disk I\/O error|vtable constructor failed/i.test(error.message)
  );
}
