/** Passes a child's output on to its file and to a listener. */
import { closeSync, createWriteStream, openSync, readSync, rmSync, type WriteStream, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Deadline } from "../deadline.ts";
import { attempt } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";

/** Idle time after which the output of an ended command is complete, even if its child holds the pipe. */
const DRAIN_MS = 500;
/** Longest wait for it: a process that the command left behind may print without end. */
const MAX_DRAIN_MS = 1_500;
/** Longer output is an error that would fill the disk, so the command is stopped. Bytes. */
const MAX_OUTPUT_BYTES = 4 * 1024 ** 3;

/** Gets each piece as bytes, and as text of whole characters. */
export type OutputListener = (bytes: Buffer, text: string) => void;

export type FlowOptions = {
  /** Path of an existing file; undefined: the output is not stored. */
  readonly outputFile: string | undefined;
  readonly onOutput: OutputListener;
  /** Ends a command that prints without end. */
  readonly stop: () => void;
};

const FALLBACK_PREFIX = "hermes-";
const COPIED_BYTES = 65_536;

/** The file in the system's temporary directory that holds an output if the disk of `path` is full or read-only. */
export function fallbackOutputFile(path: string): string {
  const name = basename(path);
  return join(tmpdir(), name.startsWith(FALLBACK_PREFIX) ? name : FALLBACK_PREFIX + name);
}

/**
 * Creates or empties a file that only the user can read, and its folder; returns its path, which may be the fallback's.
 * Undefined when neither can be created.
 */
export function makeOutputFile(path: string): string | undefined {
  try {
    makeFolder(dirname(path), 0o700);
    closeSync(openSync(path, "w", 0o600));
    return path;
  } catch {
    return copyStart(path, fallbackOutputFile(path), 0);
  }
}

/** Copies the first bytes of a file to a new one; returns its path. Undefined when it cannot be written. */
function copyStart(from: string, to: string, bytes: number): string | undefined {
  try {
    const target = openSync(to, "wx", 0o600);
    try {
      if (bytes > 0) copyBytes(from, target, bytes);
    } finally {
      closeSync(target);
    }
    return to;
  } catch {
    return undefined;
  }
}

function remove(path: string): void {
  // A disk that is read-only now keeps it; readers prefer the fallback.
  attempt(() => rmSync(path, { force: true }));
}

function copyBytes(from: string, target: number, bytes: number): void {
  const source = openSync(from, "r");
  try {
    const buffer = Buffer.alloc(COPIED_BYTES);
    for (let at = 0; at < bytes; ) {
      const length = readSync(source, buffer, 0, Math.min(COPIED_BYTES, bytes - at), at);
      if (length === 0) return;
      for (let done = 0; done < length; ) done += writeSync(target, buffer, done, length - done);
      at += length;
    }
  } finally {
    closeSync(source);
  }
}

/**
 * Back-pressure keeps memory flat: a fast command waits for the disk. If the disk refuses the output, the fallback file
 * gets all of it; if that fails, too, no file is left and the command runs on.
 */
export class OutputFlow {
  #file: WriteStream | undefined;
  /** Pieces that are not on the disk yet. */
  #pending: Buffer[] = [];
  #storedBytes = 0;
  readonly #onOutput: OutputListener;
  readonly #stop: () => void;
  readonly #closed: Promise<void>[] = [];
  /** Restarts with every piece of output. */
  readonly #idle = new Deadline(DRAIN_MS);
  #bytes = 0;
  /** Number of streams that wait for the disk. */
  #paused = 0;
  #failure: Error | undefined;

  constructor({ outputFile, onOutput, stop }: FlowOptions) {
    if (outputFile !== undefined) this.#open(outputFile);
    this.#onOutput = onOutput;
    this.#stop = stop;
  }

  /** Adds a stream; called for every stream before `drained`. */
  add(from: Readable): void {
    const decoder = new StringDecoder("utf8");
    from.on("data", (bytes: Buffer) => {
      this.#bytes += bytes.length;
      this.#idle.restart();
      if (this.#failure !== undefined) return;
      if (this.#bytes > MAX_OUTPUT_BYTES)
        this.#fail(new Error("The command was stopped because it printed more than 4 GiB."));
      this.#onOutput(bytes, decoder.write(bytes));
      const file = this.#file;
      if (file === undefined || this.#store(bytes, file)) return;
      from.pause();
      this.#paused += 1;
      const resume = (): void => {
        file.off("drain", resume).off("close", resume);
        this.#paused -= 1;
        from.resume();
      };
      file.once("drain", resume).once("close", resume);
    });
    this.#closed.push(
      new Promise((resolve) => {
        from.once("close", resolve);
        from.once("error", () => resolve());
      }),
    );
  }

  /** Resolves when all output of an ended command is in the file; rejects when the command was stopped. */
  async drained(): Promise<void> {
    const closed = Promise.all(this.#closed);
    this.#idle.restart();
    const over = new Deadline(MAX_DRAIN_MS).waitFor(closed);
    while (!(await this.#idle.waitFor(over)) && this.#paused > 0) this.#idle.restart();
    await this.#flush();
    // Processes that outlive the command may print more: the file stays open for them.
    void closed.then(() => this.close());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Closes the file; later output is dropped. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  #open(path: string): void {
    const file = createWriteStream(path, { flags: "a" });
    this.#file = file;
    file.on("error", () => this.#fallBack(file));
  }

  /** False when the disk should get time before the next piece. */
  #store(bytes: Buffer, file: WriteStream): boolean {
    this.#pending.push(bytes);
    return file.write(bytes, (error) => {
      if (error) return this.#fallBack(file);
      this.#pending.shift();
      this.#storedBytes += bytes.length;
    });
  }

  async #flush(): Promise<void> {
    for (let file = this.#file; file !== undefined; file = this.#file) {
      const written = file;
      const error = await new Promise((resolve) => written.write("", resolve));
      if (!error) return;
      this.#fallBack(written);
    }
  }

  /** Continues in the fallback file after a failed write to `file`. */
  #fallBack(file: WriteStream): void {
    if (file !== this.#file) return;
    const pending = this.#pending;
    const from = String(file.path);
    const to = copyStart(from, fallbackOutputFile(from), this.#storedBytes);
    this.#file = undefined;
    this.#pending = [];
    remove(from);
    if (to === undefined) return;
    this.#open(to);
    for (const bytes of pending) if (this.#file !== undefined) this.#store(bytes, this.#file);
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#stop();
  }
}
