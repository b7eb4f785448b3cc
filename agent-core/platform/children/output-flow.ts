/** A child's output on its way to its file and to whoever looks on. */
import { closeSync, createWriteStream, mkdirSync, openSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Deadline } from "../deadline.ts";

/** A command that ended is over when no output came for this long, though a child of its still holds the pipe. */
const DRAIN_MS = 500;
/** An output beyond this is a mistake that would fill the disk: the command is stopped. Bytes. */
const MAX_OUTPUT_BYTES = 4 * 1024 ** 3;

/** Gets each piece as it comes: its bytes, and its text with no character torn. */
export type OutputListener = (bytes: Buffer, text: string) => void;

export type FlowOptions = {
  /** Exists already; undefined: nobody asked for one. */
  readonly outputFile: string | undefined;
  readonly onOutput: OutputListener;
  /** Ends a command whose output cannot be kept. */
  readonly stop: () => void;
};

/** An empty file that only the user can read, in a folder that is made when missing; what is there is replaced. */
export function makeOutputFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "w", 0o600));
}

/** With back-pressure: a fast printer waits for the disk, and memory stays flat. */
export class OutputFlow {
  readonly #file: WriteStream | undefined;
  readonly #onOutput: OutputListener;
  readonly #stop: () => void;
  readonly #closed: Promise<void>[] = [];
  /** Restarts with every piece of output. */
  readonly #idle = new Deadline(DRAIN_MS);
  #bytes = 0;
  /** Streams that wait for the disk. */
  #paused = 0;
  #failure: Error | undefined;

  constructor({ outputFile, onOutput, stop }: FlowOptions) {
    this.#file = outputFile === undefined ? undefined : createWriteStream(outputFile, { flags: "a" });
    this.#onOutput = onOutput;
    this.#stop = stop;
    this.#file?.on("error", (error) => this.#fail(new Error(`The output could not be stored: ${error.message}`)));
  }

  /** To be called for every stream before `drained`. */
  take(from: Readable): void {
    const decoder = new StringDecoder("utf8");
    from.on("data", (bytes: Buffer) => {
      this.#bytes += bytes.length;
      this.#idle.restart();
      if (this.#failure !== undefined) return;
      if (this.#bytes > MAX_OUTPUT_BYTES) this.#fail(new Error("It was stopped: it printed more than 4 GiB."));
      this.#onOutput(bytes, decoder.write(bytes));
      const file = this.#file;
      if (file === undefined || file.write(bytes)) return;
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

  /** Resolves when all output of an ended command is in the file; rejects when it could not be kept. */
  async drained(): Promise<void> {
    const closed = Promise.all(this.#closed);
    this.#idle.restart();
    while (!(await this.#idle.waitFor(closed)) && this.#paused > 0) this.#idle.restart();
    const file = this.#file;
    if (file?.writable) await new Promise<void>((resolve) => file.write("", () => resolve()));
    // What it left running may print on: the file stays open for that.
    void closed.then(() => file?.end());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Nothing more is written from now on. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file !== undefined) await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#stop();
  }
}
