/**
 * The journal of a session: append-only JSONL, the truth about it. One write an entry, synced at the end of a turn,
 * one writer at a time. The file comes into being with the first entry, so a session nobody used leaves nothing.
 * While the disk fails, entries wait in memory and are written in their order as soon as it works again.
 */

import { type FileLock, takeLock } from "../locks/file-lock.ts";
import { JOURNAL_VERSION, type JournalEntry } from "./entry.ts";
import { type JournalFiles, systemFiles } from "./journal-files.ts";
import { JournalLine } from "./journal-line.ts";
import { LineReader } from "./journal-lines.ts";
import { LineFile } from "./line-file.ts";
import { writeFault } from "./write-fault.ts";

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
  /** Default: the system's. */
  readonly files?: JournalFiles;
};

type Open = { readonly lines: LineFile; readonly lock: FileLock };

export class Journal {
  readonly #options: JournalOptions;
  #file: Open | undefined;
  /** Reads what is safe. */
  readonly #reader: LineReader;
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
    this.#knownSize = file.lines.size;
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
      await this.#file.lines.sync();
      this.#succeed();
    } catch (error) {
      this.#fail(error);
    }
  }

  #flush(): void {
    try {
      if (this.#waiting.length > 0) this.#file ??= this.#open();
      this.#file?.lines.write(this.#waiting);
      if (this.#isFailing) this.#retrySoon(); // stored is what is synced, too
    } catch (error) {
      this.#fail(error);
    }
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

  #open(): Open {
    const { path, sessionId, cwd, now, files = systemFiles } = this.#options;
    const head = (): JournalLine =>
      this.#lineOf({ type: "session", version: JOURNAL_VERSION, id: sessionId, cwd, at: now() });
    files.makeFolder(path);
    const lock = takeLock(`${path}.lock`);
    if ("pid" in lock) throw new Error(`another Hermes (process ${lock.pid}) is writing session ${sessionId}`);
    let lines: LineFile | undefined;
    try {
      lines = new LineFile(files, path, head);
      const isKnown = this.#knownSize === undefined || this.#knownSize === lines.size;
      if (!isKnown) throw new Error("it has gone on elsewhere since it was opened here; open it again, or fork it");
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
