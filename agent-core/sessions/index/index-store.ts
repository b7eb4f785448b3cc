/**
 * The index over all sessions: an in-memory database derived from their journals, with a snapshot on disk that may be
 * deleted. Several processes can share a home: each reads the growth of all journals, and the last save wins.
 */
import { rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { Database } from "sql.js";
import * as z from "zod";
import { type Changes, catchUp, findChanges, type IndexedBytes, indexedBytes, JournalFolder } from "./catch-up.ts";
import type { Building } from "./index-messages.ts";
import type { Snapshot } from "./index-snapshot.ts";
import { openDatabase, saveDatabase } from "./open-database.ts";

/** Minimum time between two saves of the snapshot. Milliseconds. */
const SAVE_INTERVAL_MS = 30_000;
/** An answer waits for changes up to these limits. Larger changes are indexed in the background. */
const WAITED_JOURNALS = 100;
const WAITED_BYTES = 4_194_304;
/** With a background build, the first answer waits for this many recent sessions or this time. */
const FIRST_JOURNALS = 50;
const FIRST_MS = 100;
/** Minimum time between two progress reports. */
const REPORT_INTERVAL_MS = 250;
/** Snapshot blocks read between two questions: about one millisecond of work. */
const BLOCKS_PER_TICK = 8;
/** After this many failures the index is not built again. */
const MAX_FAILURES = 2;

export type IndexStoreOptions = {
  /** Folder of the journals, absolute. */
  readonly journals: string;
  /** The snapshot, absolute. */
  readonly file: string;
  /** Receives one line about a snapshot that could not be written or read. */
  readonly log: (line: string) => void;
  /** Called when a background build starts, progresses and ends (`done` equals `total`). */
  readonly building: (building: Building) => void;
};

/** A build in the background. */
type Build = {
  building: Building;
  /** Settles when the first results exist. */
  readonly first: Promise<void>;
  /** Settles at the end, after success or failure. */
  readonly over: Promise<void>;
};

export class IndexStore {
  readonly #options: IndexStoreOptions;
  readonly #journals: JournalFolder;
  readonly #closing = new AbortController();
  #database: Database | undefined;
  /** Snapshot that the database reads its pages from. */
  #snapshot: Snapshot | undefined;
  /** Settles when the whole snapshot is read or no longer needed. */
  #readingRest: Promise<void> | undefined;
  /** Cache of the database's own values; undefined after a failure. */
  #indexed: IndexedBytes | undefined;
  #build: Build | undefined;
  /** Questions run one at a time. */
  #queue: Promise<unknown> = Promise.resolve();
  #failures = 0;
  #isChanged: boolean = false;
  #savedAt = Date.now();
  #saving: NodeJS.Timeout | undefined;

  constructor(options: IndexStoreOptions) {
    this.#options = options;
    this.#journals = new JournalFolder(options.journals);
  }

  /**
   * Answers after it has read the growth of the journals. A large growth is read in the background, and the answer covers
   * only what is read. Rejects when SQLite cannot be loaded.
   */
  ask<Value>(question: (database: Database) => Value): Promise<{ value: Value; building: Building | undefined }> {
    const answer = this.#queue.then(() => this.#answer(question));
    this.#queue = answer.catch(() => undefined); // the asker gets the error
    return answer;
  }

  /** Stops a build, and saves. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#saving);
    await this.#queue;
    await this.#build?.over;
    await this.#readingRest;
    await this.#save();
    this.#closeDatabase();
  }

  async #answer<Value>(question: (database: Database) => Value) {
    try {
      return await this.#ask(question);
    } catch (error) {
      // Damage shows only when a statement reads the damaged part.
      if (!isDamage(error)) throw error;
      await this.#build?.over; // the build writes to the database that is closed next
      await this.#discard(error);
      return this.#ask(question);
    }
  }

  async #ask<Value>(question: (database: Database) => Value) {
    await this.#catchUp();
    const value = question(await this.#open());
    this.#readingRest ??= this.#readRest();
    return { value, building: this.#build?.building };
  }

  /** Reads the rest of the snapshot in the background, so that its file can be closed. */
  async #readRest(): Promise<void> {
    const { signal } = this.#closing;
    try {
      while (!signal.aborted && this.#snapshot?.readOn(BLOCKS_PER_TICK) === false) await setImmediate();
    } catch {
      // The index is damaged. Another question repeats the read, which rebuilds it.
      if (!signal.aborted) void this.ask(() => this.#snapshot?.readOn(Number.POSITIVE_INFINITY)).catch(() => undefined);
    }
  }

  async #open(): Promise<Database> {
    if (this.#database !== undefined) return this.#database;
    const { database, snapshot, refused } = await openDatabase(this.#options.file);
    if (refused) this.#options.log("The session index is damaged or from another version. Hermes rebuilds it.");
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
    if (this.#failures >= MAX_FAILURES) throw new Error("The session index could not be built; see the log.");
    this.#build = this.#buildFrom(database, changes);
    await this.#build.first;
  }

  #buildFrom(database: Database, changes: Changes): Build {
    const total = changes.growths.length;
    const first = Promise.withResolvers<void>();
    setTimeout(first.resolve, FIRST_MS);
    const build = { building: { done: 0, total }, first: first.promise };
    this.#options.building(build.building);
    let reportedAt = Date.now();
    const reading = this.#read(database, changes, (done) => {
      build.building = { done, total };
      if (done >= FIRST_JOURNALS) first.resolve();
      if (Date.now() - reportedAt < REPORT_INTERVAL_MS) return;
      reportedAt = Date.now();
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
    // Until the run succeeds, a rollback may undo values of the map.
    this.#indexed = undefined;
    await catchUp(database, changes, { indexed, progress, committed, signal });
    this.#indexed = indexed;
  }

  /** Drops the index. The next question builds it again from the journals. */
  async #discard(error: unknown): Promise<void> {
    this.#options.log(`Rebuilding the session index: ${String(error)}`);
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
      // A background build saves by itself.
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
      this.#options.log(`The session index could not be saved: ${String(error)}`);
    }
  }
}

function isShort({ growths }: Changes): boolean {
  const bytes = growths.reduce((sum, growth) => sum + growth.bytes, 0);
  return growths.length <= WAITED_JOURNALS && bytes <= WAITED_BYTES;
}

function isDamage(error: unknown): boolean {
  if (error instanceof z.ZodError) return true; // a row that this version does not write
  return (
    error instanceof Error &&
    /malformed|not a database|corrupt|disk I\/O error|vtable constructor failed/i.test(error.message)
  );
}
