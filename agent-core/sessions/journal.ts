/**
 * The journal of a session: append-only JSONL, the truth about it. One write an entry, synced at the end of a turn,
 * one writer at a time. The file comes into being with the first entry, so a session nobody used leaves nothing.
 */
import { closeSync, fdatasync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { JOURNAL_VERSION, type JournalEntry } from "./entry.ts";
import { type SessionLock, takeLock } from "./session-lock.ts";

/** How far back from the end a torn last line is looked for at a time. */
const TAIL_CHUNK_BYTES = 65_536;
const NEWLINE = 10;

const syncData = promisify(fdatasync);

/** An entry without its time, which the journal adds. */
type Untimed<Entry> = Entry extends JournalEntry ? Omit<Entry, "at"> : never;
export type NewEntry = Exclude<Untimed<JournalEntry>, { type: "session" }>;

export type JournalOptions = {
  /** Absolute path of the `.jsonl` file. */
  readonly path: string;
  readonly sessionId: string;
  /** The session's working folder, absolute. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Told once, in a line for people, when entries can no longer be stored; the turn goes on without. */
  readonly onFailure: (message: string) => void;
};

export class Journal {
  readonly #options: JournalOptions;
  #file: { readonly descriptor: number; readonly lock: SessionLock } | undefined;
  /** Why nothing more is stored. */
  #failure: string | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Writes one entry at the end. Never throws: a failure is told once through `onFailure`. */
  append(entry: NewEntry): void {
    this.#attempt(() => this.#write({ ...entry, at: this.#options.now() } as JournalEntry)); // adds the omitted time
  }

  /** Makes everything written so far survive a power cut. */
  async sync(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    try {
      await syncData(file.descriptor);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Gives the file and its lock back; a later append opens it again. */
  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    closeSync(file.descriptor);
    file.lock.release();
  }

  #attempt(action: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      action();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#options.onFailure(`This session is no longer being saved: ${this.#failure}`);
  }

  #write(entry: JournalEntry): void {
    this.#file ??= this.#open();
    writeWhole(this.#file.descriptor, entry);
  }

  #open(): { readonly descriptor: number; readonly lock: SessionLock } {
    const { path, sessionId, cwd, now } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const lock = takeLock(`${path}.lock`);
    if ("pid" in lock) throw new Error(`another Hermes (process ${lock.pid}) is writing session ${sessionId}`);
    try {
      const descriptor = openSync(path, "a+", 0o600);
      cutTornLine(descriptor);
      if (fstatSync(descriptor).size === 0) {
        writeWhole(descriptor, { type: "session", version: JOURNAL_VERSION, id: sessionId, cwd, at: now() });
      }
      return { descriptor, lock };
    } catch (error) {
      lock.release();
      throw error;
    }
  }
}

function writeWhole(descriptor: number, entry: JournalEntry): void {
  const line = Buffer.from(`${JSON.stringify(entry)}\n`);
  let written = 0;
  while (written < line.length) written += writeSync(descriptor, line, written);
}

/** A line that a dying process left without its end would swallow the next entry. */
function cutTornLine(descriptor: number): void {
  const { size } = fstatSync(descriptor);
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - TAIL_CHUNK_BYTES);
    const chunk = Buffer.alloc(end - start);
    readSync(descriptor, chunk, 0, chunk.length, start);
    const newline = chunk.lastIndexOf(NEWLINE);
    if (newline >= 0) {
      end = start + newline + 1;
      break;
    }
    end = start;
  }
  if (end < size) ftruncateSync(descriptor, end);
}
