/** Passes a child's output on to its file and to a listener. */
import { closeSync, createWriteStream, mkdirSync, openSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Deadline } from "../deadline.ts";

/** Idle time after which the output of an ended command is complete, even if its child holds the pipe. */
const DRAIN_MS = 500;
/** Longer output is an error that would fill the disk, so the command is stopped. Bytes. */
const MAX_OUTPUT_BYTES = 4 * 1024 ** 3;

/** Gets each piece as bytes, and as text of whole characters. */
export type OutputListener = (bytes: Buffer, text: string) => void;

export type FlowOptions = {
  /** Path of an existing file; undefined: the output is not stored. */
  readonly outputFile: string | undefined;
  readonly onOutput: OutputListener;
  /** Ends a command whose output cannot be stored. */
  readonly stop: () => void;
};

/** Creates or empties a file that only the user can read, and its folder. */
export function makeOutputFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "w", 0o600));
}

/** Back-pressure keeps memory flat: a fast command waits for the disk. */
export class OutputFlow {
  readonly #file: WriteStream | undefined;
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
    this.#file = outputFile === undefined ? undefined : createWriteStream(outputFile, { flags: "a" });
    this.#onOutput = onOutput;
    this.#stop = stop;
    this.#file?.on("error", (error) => this.#fail(new Error(`Could not store the output: ${error.message}`)));
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

  /** Resolves when all output of an ended command is in the file; rejects when storing it failed. */
  async drained(): Promise<void> {
    const closed = Promise.all(this.#closed);
    this.#idle.restart();
    while (!(await this.#idle.waitFor(closed)) && this.#paused > 0) this.#idle.restart();
    const file = this.#file;
    if (file?.writable) await new Promise<void>((resolve) => file.write("", () => resolve()));
    // Processes that outlive the command may print more: the file stays open for them.
    void closed.then(() => file?.end());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Closes the file; later output is dropped. */
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
