/**
 * The index over all sessions: derived from their journals, in memory, with a snapshot on disk that may be deleted.
 * Nothing is loaded before it is first asked. Two processes may share a home: each reads what the other's journals
 * have grown by, and whoever saves last leaves a snapshot that the next one catches up from.
 */
import { rm } from "node:fs/promises";
import type { Database } from "sql.js";
import * as z from "zod";
import { catchUp, type Progress } from "./catch-up.ts";
import {
  findSession,
  type IndexedMessage,
  type IndexedUsage,
  type ListFilter,
  listSessions,
  messagesBetween,
  type SearchFilter,
  type SearchHit,
  type SessionSummary,
  searchMessages,
  titledSessions,
  usageSince,
} from "./queries.ts";

/** A snapshot is written at most this often. Milliseconds. */
const SAVE_INTERVAL_MS = 30_000;

export type SessionIndexOptions = {
  /** Folder of the journals, absolute. */
  readonly journals: string;
  /** The snapshot, absolute. */
  readonly file: string;
  /** One line for the log: a snapshot that could not be written or read. */
  readonly log: (line: string) => void;
};

/** The index as it is once it has caught up. */
export type IndexView = {
  list(filter: ListFilter): readonly SessionSummary[];
  find(id: string): SessionSummary | undefined;
  messages(id: string, from: number, to: number): readonly IndexedMessage[];
  search(filter: SearchFilter): readonly SearchHit[];
  /** Sum over the sessions that were used at or after `at` (milliseconds since 1970), but for `except`. */
  usageSince(at: number, except: string): IndexedUsage;
  /** Sessions whose title has all of these words, the last used first; `cwd`: only of this folder. */
  titled(query: string, cwd: string | undefined, limit: number): readonly SessionSummary[];
};

export class SessionIndex {
  readonly #options: SessionIndexOptions;
  #database: Database | undefined;
  /** Questions are answered one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  #saving: NodeJS.Timeout | undefined;
  #isClosed = false as boolean;

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /** Catches up and answers. `progress` is told how a long catching up goes. Rejects when SQLite cannot be loaded. */
  ask<Answer>(question: (index: IndexView) => Answer, progress: Progress = () => undefined): Promise<Answer> {
    const answer = this.#queue.then(() => this.#answer(question, progress));
    this.#queue = answer.catch(() => undefined); // the asker is told
    return answer;
  }

  /** Saves what is not saved yet. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue;
    if (this.#saving !== undefined) await this.#save();
    this.#database?.close();
    this.#database = undefined;
  }

  async #answer<Answer>(question: (index: IndexView) => Answer, progress: Progress): Promise<Answer> {
    try {
      return question(await this.#caughtUp(progress));
    } catch (error) {
      // A damaged snapshot shows itself only when a statement comes upon it.
      if (!isDamage(error)) throw error;
      this.#options.log(`The index of sessions is built again: ${String(error)}`);
      this.#database?.close();
      await rm(this.#options.file, { force: true });
      this.#database = undefined;
      return question(await this.#caughtUp(progress));
    }
  }

  async #caughtUp(progress: Progress): Promise<IndexView> {
    const { openDatabase } = await import("./open-database.ts");
    this.#database ??= await openDatabase(this.#options.file);
    const database = this.#database;
    if (await catchUp(database, this.#options.journals, progress)) this.#saveSoon();
    return {
      list: (filter) => listSessions(database, filter),
      find: (id) => findSession(database, id),
      messages: (id, from, to) => messagesBetween(database, id, from, to),
      search: (filter) => searchMessages(database, filter),
      usageSince: (at, except) => usageSince(database, at, except),
      titled: (query, cwd, limit) => titledSessions(database, query, { cwd, limit }),
    };
  }

  #saveSoon(): void {
    if (this.#saving !== undefined) return;
    const save = (): void => {
      if (!this.#isClosed) this.#queue = this.#queue.then(() => this.#save());
    };
    this.#saving = setTimeout(save, SAVE_INTERVAL_MS).unref();
  }

  async #save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    if (this.#database === undefined) return;
    try {
      const { saveDatabase } = await import("./open-database.ts");
      await saveDatabase(this.#database, this.#options.file);
    } catch (error) {
      this.#options.log(`The index of sessions could not be saved: ${String(error)}`);
    }
  }
}

function isDamage(error: unknown): boolean {
  if (error instanceof z.ZodError) return true; // a row that we did not write like this
  return error instanceof Error && /malformed|not a database|corrupt|vtable constructor failed/i.test(error.message);
}
