/**
 * The journal of a session: append-only JSONL, the truth about it. One write an entry, synced at the end of a turn,
 * one writer at a time. The file comes into being with the first entry, so a session nobody used leaves nothing.
 * While the disk fails, entries wait in memory and are written in their order as soon as it works again.
 */

import { acquireLock, type FileLock } from "../platform/locks/file-lock.ts";
import { JOURNAL_VERSION, type JournalEntry, type SessionOrigin } from "./entry.ts";
import { type JournalFiles, systemFiles } from "./journal-files.ts";
import { JournalLine } from "./journal-line.ts";
import { LineReader } from "./journal-lines.ts";
import { LineFile } from "./line-file.ts";
import type { SpaceReserve } from "./space-reserve.ts";
import { isFull, writeFault } from "./write-fault.ts";

/** What waits is tried again this often when nothing else is written. */
const RETRY_MS = 2_000;

/** An entry without its time, which the journal adds. */
type Untimed<Entry> = Entry extends JournalEntry ? Omit<Entry, "at"> : never;
export type NewEntry = Exclude<Untimed<JournalEntry>, { type: "session" }>;

export type JournalOptions = {
  /** Absolute path of the `.jsonl` file. */
  readonly path: string;
  readonly sessionId: string;
  /** The session's working folder, absolute. */
  readonly cwd: string;
  /** Starter of the session, for its first entry. Default: the user. */
  readonly origin?: SessionOrigin;
  /**
   * How long the file was when the session was read from it, in bytes; another length means that it has gone on
   * elsewhere, and nothing is added to it. Default: any.
   */
  readonly knownSize?: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Told in a line for people when entries cannot be stored, once until they can again; the turn goes on. `reason` is
   * the part that says why.
   */
  readonly onFailure: (message: string, reason: string) => void;
  /** Told in a line for people when everything is stored again. Default: nobody is. */
  readonly onRecovery?: (message: string) => void;
  /** Given up when the disk is full, so that the session is saved all the same. Default: none. */
  readonly reserve?: Pick<SpaceReserve, "keep" | "release">;
  /** Told in a line for people when the reserve was given up. Default: nobody is. */
  readonly onFullDisk?: (message: string) => void;
  /** Default: the system's. */
  readonly files?: JournalFiles;
};

type Open = { readonly lines: LineFile; readonly lock: FileLock };

/** Why nothing may be added to a session: another Hermes goes on with it. */
class HeldElsewhere extends Error {}

export class Journal {
  #options: JournalOptions;
  #file: Open | undefined;
  /** Reads what is safe. */
  readonly #reader: LineReader;

  /** What stood in a file that was deleted while it was in use, until it is written again. */
  #lost: Buffer | undefined;
  /** Lines that are not in the file yet. */
  readonly #waiting: JournalLine[] = [];
  /** The last attempt failed, and that has been told. */
  #isFailing = false as boolean;
  #retry: NodeJS.Timeout | undefined;
  /** Settles when no sync is under way; never rejects. */
  #syncing: Promise<void> = Promise.resolve();
  /** Syncs that run or wait. */
  #syncs = 0;

  /** Length that the file must have when it is opened. */
  #knownSize: number | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#reader = new LineReader(options.path);
    this.#knownSize = options.knownSize;
  }

  /**
   * Writes one entry at the end. Never throws: a failure is told through `onFailure`, and the entry waits. What it gives
   * reads the entry again: undefined, or an error thrown, when somebody else has changed the file since.
   */
  append(entry: NewEntry): Pick<JournalLine, "read"> {
    const line = this.#lineOf({ ...entry, at: this.#options.now() } as JournalEntry); // adds the omitted time
    this.#waiting.push(line);
    this.#flush();
    return line;
  }

  /** What is not in the file yet, as lines; a head may stand before it again. */
  get unsaved(): Buffer | undefined {
    return this.#waiting.length === 0
      ? undefined
      : Buffer.concat([this.#lost ?? this.#head().bytes, ...this.#waiting.map(({ bytes }) => bytes)]);
  }

  /**
   * Takes the session for this process before anything is said in it. Gives why that cannot be: another Hermes is going
   * on with it, or has done so. A disk that fails is no reason, and told when there is something to store.
   */
  claim(): string | undefined {
    try {
      this.#follow();
      this.#file ??= this.#open();
    } catch (error) {
      if (error instanceof HeldElsewhere) return error.message;
    }
    return undefined;
  }

  /** From now on others are told; what they are told begins anew. */
  handOver(told: Pick<JournalOptions, "onFailure" | "onRecovery" | "onFullDisk">): void {
    this.#options = { ...this.#options, ...told };
    this.#isFailing = false;
    this.#flush();
  }

  /** Makes everything written so far survive a power cut. Never rejects; a failure is told and tried again. */
  async sync(): Promise<void> {
    this.#syncs += 1;
    this.#syncing = this.#syncing.then(() => this.#syncNow());
    await this.#syncing;
    this.#syncs -= 1;
  }

  /** Gives the file and its lock back; a later append opens it again. What still waits is tried once more. */
  close(): void {
    if (this.#waiting.length > 0) this.#flush();
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    this.#knownSize = this.#lost === undefined ? file.lines.size : undefined;
    const close = (): void => {
      try {
        file.lines.close();
      } catch (error) {
        this.#fail(error);
      }
      file.lock.release();
    };
    if (this.#syncs === 0) close();
    else void this.#syncing.then(close);
  }

  async #syncNow(): Promise<void> {
    this.#flush();
    if (this.#file === undefined || this.#waiting.length > 0) return;
    try {
      const { lines } = this.#file;
      await lines.sync().catch((error: unknown) => this.#withReserve(error, () => lines.sync()));
      this.#succeed();
      void this.#options.reserve?.keep();
    } catch (error) {
      this.#fail(error);
    }
  }

  #flush(): void {
    try {
      this.#store();
      if (this.#isFailing) this.#retrySoon(); // stored is what is synced, too
    } catch (error) {
      this.#fail(error);
    }
  }

  #store(): void {
    const store = (): void => {
      if (this.#waiting.length > 0) {
        this.#follow();
        this.#file ??= this.#open();
      }
      this.#file?.lines.write(this.#waiting);
      if (this.#lost !== undefined && this.#file !== undefined) this.#foundAgain();
    };
    try {
      store();
    } catch (error) {
      this.#withReserve(error, store);
    }
  }

  /** What failed for want of room is done again in that which was kept back. Throws `error` when there is none. */
  #withReserve<Result>(error: unknown, again: () => Result): Result {
    const { reserve, onFullDisk } = this.#options;
    if (!isFull(error) || reserve?.release() !== true) throw error;
    const result = again();
    onFullDisk?.(
      `Make room soon: ${writeFault(error)}. This session is still saved, in space that was kept back for that.`,
    );
    return result;
  }

  #fail(error: unknown): void {
    this.#retrySoon();
    this.#reader.forget();
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = writeFault(error);
    const message = `This session is not being saved: ${reason}. Until it can be, what is said is kept in memory only.`;
    this.#options.onFailure(message, reason);
  }

  #succeed(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#reader.forget();
    this.#options.onRecovery?.("This session is saved again, with all that was said in the meantime.");
  }

  #retrySoon(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      void this.sync();
    }, RETRY_MS).unref();
  }

  /** The file may have been deleted while it is open, with its folder, too: what it held is written where it was. */
  #follow(): void {
    const { path, files = systemFiles } = this.#options;
    const file = this.#file;
    if (file === undefined || file.lines.isAt(path)) return;
    if (files.identityAt(path) === undefined) this.#lost = file.lines.content();
    this.#knownSize = this.#lost === undefined ? file.lines.size : undefined;
    this.#file = undefined;
    void this.#syncing.then(() => file.lines.close());
    file.lock.release();
  }

  #foundAgain(): void {
    this.#lost = undefined;
    this.#reader.forget();
    this.#options.onRecovery?.("The file of this session was deleted while it was open; it is written again, whole.");
  }

  /** What the file begins with where there is none. */
  #beginning(): JournalLine {
    return this.#lost === undefined ? this.#head() : new JournalLine(this.#lost, this.#reader);
  }

  #head(): JournalLine {
    const { sessionId, cwd, now, origin = "user" } = this.#options;
    return this.#lineOf({ type: "session", version: JOURNAL_VERSION, id: sessionId, cwd, origin, at: now() });
  }

  #open(): Open {
    const { path, sessionId, files = systemFiles } = this.#options;
    const isKnownToBe = (this.#knownSize ?? 0) > 0;
    if (isKnownToBe && files.identityAt(path) === undefined) {
      throw new HeldElsewhere("it has been deleted since it was opened here");
    }
    files.makeFolder(path);
    const lock = acquireLock(`${path}.lock`);
    if ("pid" in lock) throw new HeldElsewhere(`another Hermes (process ${lock.pid}) is writing session ${sessionId}`);
    let lines: LineFile | undefined;
    try {
      lines = new LineFile(files, path, () => this.#beginning());
      const isKnown = this.#knownSize === undefined || this.#knownSize === lines.size;
      if (!isKnown) {
        throw new HeldElsewhere("it has gone on elsewhere since it was opened here; open it again, or fork it");
      }
      return { lines, lock };
    } catch (error) {
      lines?.close();
      lock.release();
      throw error;
    }
  }

  #lineOf(entry: JournalEntry): JournalLine {
    return new JournalLine(Buffer.from(`${JSON.stringify(entry)}\n`), this.#reader);
  }
}
