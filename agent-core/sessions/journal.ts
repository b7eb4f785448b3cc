/**
 * The journal of a session: an append-only JSONL file and the only source of truth about it. Each entry is one write; a
 * sync follows at the end of a turn. One process writes at a time. The first entry creates the file, so an unused
 * session leaves none. While the disk fails, entries wait in memory and are written in order later.
 */
import { attempt } from "../platform/errors.ts";
import { acquireLock, type FileLock } from "../platform/locks/file-lock.ts";
import { JOURNAL_VERSION, type JournalEntry, type SessionOrigin } from "./entry.ts";
import { LineReader } from "./journal-lines.ts";
import { type JournalFiles, JournalLine, LineFile, systemFiles } from "./line-file.ts";
import { isFull, type SpaceReserve, writeFault } from "./write-fault.ts";

/** Interval of retries while nothing else is written. */
const RETRY_MS = 2_000;

/** An entry without its time. The journal adds it. */
type Untimed<Entry> = Entry extends JournalEntry ? Omit<Entry, "at"> : never;
export type NewEntry = Exclude<Untimed<JournalEntry>, { type: "session" }>;

export type JournalOptions = {
  /** Absolute path of the `.jsonl` file. */
  readonly path: string;
  readonly sessionId: string;
  /** The session's working folder, absolute. */
  readonly cwd: string;
  /** Further workspace folders, absolute. Default: none. */
  readonly folders?: readonly string[];
  /** Starter of the session, for its first entry. Default: the user. */
  readonly origin?: SessionOrigin;
  /** Session that delegated the task of this one. */
  readonly parent?: string;
  /** Called with each new entry. */
  readonly onEntry?: (entry: JournalEntry) => void;
  /**
   * Bytes of the file when the session was read from it. With another length the journal adds nothing, because the
   * session continued elsewhere. Default: any length.
   */
  readonly knownSize?: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Called once with a line for people when entries cannot be stored, until they can be again. The turn continues.
   * `reason` is the cause alone.
   */
  readonly onFailure: (message: string, reason: string) => void;
  /** Called with a line for people when all entries are stored again. */
  readonly onRecovery?: (message: string) => void;
  /** Freed when the disk is full, so that the session can still be saved. Default: none. */
  readonly reserve?: Pick<SpaceReserve, "keep" | "release">;
  /** Called with a line for people when the reserve was freed. */
  readonly onFullDisk?: (message: string) => void;
  /** Default: the system's files. */
  readonly files?: JournalFiles;
};

type Open = { readonly lines: LineFile; readonly lock: FileLock };

/** Another Hermes writes the session, or has changed it. */
class SessionLockedError extends Error {}

export class Journal {
  #options: JournalOptions;
  #file: Open | undefined;
  readonly #reader: LineReader;

  /** Contents of a file that was deleted during use, until they are written again. */
  #lost: Buffer | undefined;
  /** Lines that are not in the file yet. */
  readonly #waiting: JournalLine[] = [];
  /** The last attempt failed, and `onFailure` was called. */
  #isFailing: boolean = false;
  #retry: NodeJS.Timeout | undefined;
  /** Settles when no sync runs. Never rejects. */
  #syncing: Promise<void> = Promise.resolve();
  /** Count of running and waiting syncs. */
  #syncs = 0;

  /** Length that the file must have when it is opened. */
  #knownSize: number | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#reader = new LineReader(options.path);
    this.#knownSize = options.knownSize;
  }

  /**
   * Appends one entry. Never throws: after a failure `onFailure` is called and the entry waits. The result reads the
   * entry again; its `read` returns undefined or throws when another program changed the file.
   */
  append(entry: NewEntry): Pick<JournalLine, "read"> {
    const timed = { ...entry, at: this.#options.now() } as JournalEntry; // adds the omitted time
    this.#options.onEntry?.(timed);
    const line = this.#lineOf(timed);
    this.#waiting.push(line);
    this.#flush();
    return line;
  }

  /** Lines that are not in the file yet, with a head before them if the file has none. */
  get unsaved(): Buffer | undefined {
    return this.#waiting.length === 0
      ? undefined
      : Buffer.concat([this.#lost ?? this.#head().bytes, ...this.#waiting.map(({ bytes }) => bytes)]);
  }

  /**
   * Reserves the session for this process before a prompt. Returns the reason when another Hermes has the session. A
   * failing disk is no reason; it is reported with the first entry.
   */
  claim(): string | undefined {
    try {
      this.#detectReplacedFile();
      this.#file ??= this.#open();
    } catch (error) {
      if (error instanceof SessionLockedError) return error.message;
    }
    return undefined;
  }

  /** Tells other processes what the session does. If the lock cannot be written, the note is lost, and lists show less. */
  note(state: string | undefined): void {
    // The journal reports a failing disk.
    attempt(() => this.#file?.lock.note(state));
  }

  /** Replaces the listeners. A failure is reported to the new ones again. */
  setListeners(listeners: Pick<JournalOptions, "onFailure" | "onRecovery" | "onFullDisk">): void {
    this.#options = { ...this.#options, ...listeners };
    this.#isFailing = false;
    this.#flush();
  }

  /** Makes all written entries survive a power cut. Never rejects: a failure is reported and retried. */
  async sync(): Promise<void> {
    this.#syncs += 1;
    this.#syncing = this.#syncing.then(() => this.#syncNow());
    await this.#syncing;
    this.#syncs -= 1;
  }

  /**
   * Closes the file and releases its lock, after one more attempt to write waiting entries. A later append opens the file again.
   */
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
      if (this.#isFailing) this.#retrySoon(); // the retry also syncs what was stored
    } catch (error) {
      this.#fail(error);
    }
  }

  #store(): void {
    const store = (): void => {
      if (this.#waiting.length > 0) {
        this.#detectReplacedFile();
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

  /** Repeats a write that failed for lack of space, with the reserve freed. Throws `error` when there is no reserve. */
  #withReserve<Result>(error: unknown, again: () => Result): Result {
    const { reserve, onFullDisk } = this.#options;
    if (!isFull(error) || reserve?.release() !== true) throw error;
    const result = again();
    onFullDisk?.(
      `Free some disk space: ${writeFault(error)}. This session is still being saved, in space reserved for it.`,
    );
    return result;
  }

  #fail(error: unknown): void {
    this.#retrySoon();
    this.#reader.forget();
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = writeFault(error);
    const message = `This session is not being saved: ${reason}. New messages are only in memory until it can be saved.`;
    this.#options.onFailure(message, reason);
  }

  #succeed(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#reader.forget();
    this.#options.onRecovery?.("This session is being saved again, including all messages since.");
  }

  #retrySoon(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      void this.sync();
    }, RETRY_MS).unref();
  }

  /** Detects that the open file was deleted or replaced. The contents of a deleted file are written to its path again. */
  #detectReplacedFile(): void {
    const { path, files = systemFiles } = this.#options;
    const file = this.#file;
    if (file === undefined || file.lines.isAt(path)) return;
    if (files.identityAt(path) === undefined) this.#lost = file.lines.content();
    this.#knownSize = this.#lost === undefined ? file.lines.size : undefined;
    this.#file = undefined;
    void this.#syncing.then(() => file.lines.close()).catch(() => undefined); // its contents are read, or were replaced
    file.lock.release();
  }

  #foundAgain(): void {
    this.#lost = undefined;
    this.#reader.forget();
    this.#options.onRecovery?.(
      "The file of this session was deleted while it was open. Hermes wrote it again in full.",
    );
  }

  /** First line of a new file. */
  #beginning(): JournalLine {
    return this.#lost === undefined ? this.#head() : new JournalLine(this.#lost, this.#reader);
  }

  #head(): JournalLine {
    const { sessionId, cwd, folders = [], parent, now, origin = "user" } = this.#options;
    const place = { cwd, ...(folders.length > 0 && { folders }), ...(parent !== undefined && { parent }) };
    return this.#lineOf({ type: "session", version: JOURNAL_VERSION, id: sessionId, ...place, origin, at: now() });
  }

  #open(): Open {
    const { path, sessionId, files = systemFiles } = this.#options;
    const isKnownToBe = (this.#knownSize ?? 0) > 0;
    if (isKnownToBe && files.identityAt(path) === undefined) {
      throw new SessionLockedError("its file was deleted after it was opened here");
    }
    files.makeFolder(path);
    const lock = acquireLock(`${path}.lock`);
    if ("pid" in lock)
      throw new SessionLockedError(`another Hermes (process ${lock.pid}) is writing session ${sessionId}`);
    let lines: LineFile | undefined;
    try {
      lines = new LineFile(files, path, () => this.#beginning());
      const isKnown = this.#knownSize === undefined || this.#knownSize === lines.size;
      if (!isKnown) {
        throw new SessionLockedError("it continued elsewhere after it was opened here; open it again, or fork it");
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
