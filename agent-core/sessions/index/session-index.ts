/**
 * The index over all sessions, as the agent has it: questions go to a thread of its own, so that no turn ever waits for
 * SQLite. Nothing is loaded before it is first asked.
 */
import type { Worker } from "node:worker_threads";
import type { ImportOptions, ImportReport } from "../import/import-sessions.ts";
import type { FromIndex, IndexPlace, ToIndex } from "./index-messages.ts";
import type { Answer, Building, QuestionArguments, QuestionName } from "./questions.ts";

export type SessionIndexOptions = IndexPlace & {
  /** One line for the log: a snapshot that could not be written or read. */
  readonly log: (line: string) => void;
  /** Told when a long reading of journals begins, how far it is, and when it is done (`done` is `total`). */
  readonly building?: (building: Building) => void;
};

/** `signal` ends it between two sessions: those that are done stay, and are in the report. */
export type SessionImport = Pick<ImportOptions, "from" | "open" | "again" | "progress" | "signal">;

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void };

export class SessionIndex {
  readonly #options: SessionIndexOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** Who is told how far an import is. */
  readonly #importing = new Map<number, SessionImport["progress"]>();
  #worker: Promise<Worker> | undefined;
  #asked = 0;

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /**
   * Answers from the journals as they are. While so many of them are new that reading takes a while, it answers from
   * what is read so far, and says so. Rejects when SQLite cannot be loaded.
   */
  async ask<Name extends QuestionName>(name: Name, ...args: QuestionArguments<Name>): Promise<Answer<Name>> {
    return this.#request(await this.#start(), (id) => ({ type: "ask", id, name, args }));
  }

  /** Brings sessions over from an original Hermes home. Rejects with an Error in one line when it cannot be read. */
  async import({ from, open, again, progress, signal }: SessionImport): Promise<ImportReport> {
    const worker = await this.#start();
    let cancel = (): void => undefined;
    const report = this.#request<ImportReport>(worker, (id) => {
      this.#importing.set(id, progress);
      cancel = () => worker.postMessage({ type: "cancel", id } satisfies ToIndex);
      return { type: "import", id, from, open, again };
    });
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
    return report.finally(() => signal.removeEventListener("abort", cancel));
  }

  /** Saves what is not saved yet. */
  async close(): Promise<void> {
    const worker = await this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.ref();
    worker.postMessage({ type: "close" } satisfies ToIndex);
    await ended;
  }

  #request<Value>(worker: Worker, message: (id: number) => ToIndex): Promise<Value> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise<Value>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    worker.ref();
    worker.postMessage(message(id));
    return answer;
  }

  #start(): Promise<Worker> {
    this.#worker ??= this.#startWorker();
    return this.#worker;
  }

  async #startWorker(): Promise<Worker> {
    const { startIndexWorker } = await import("./start-index-worker.ts");
    const { journals, file, log } = this.#options;
    const worker = startIndexWorker({ journals, file });
    worker.on("message", (message: FromIndex) => this.#receive(worker, message));
    worker.once("error", (error) => log(`The index of sessions stopped: ${String(error)}`));
    worker.once("exit", () => this.#ended());
    for (const stream of [worker.stdout, worker.stderr]) stream.resume();
    return worker;
  }

  /** The next question starts it again. */
  #ended(): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error("The index of sessions stopped."));
    this.#waiting.clear();
    this.#importing.clear();
  }

  #receive(worker: Worker, message: FromIndex): void {
    switch (message.type) {
      case "log":
        this.#options.log(message.line);
        return;
      case "building":
        this.#options.building?.(message.building);
        return;
      case "answer":
        this.#take(worker, message.id)?.resolve(message.answer as never); // what its question gives
        return;
      case "importing":
        this.#importing.get(message.id)?.(message.done, message.total);
        return;
      case "imported":
        this.#take(worker, message.id)?.resolve(message.report as never); // what its import gives
        return;
      case "failure":
        this.#take(worker, message.id)?.reject(new Error(message.message));
        return;
    }
  }

  #take(worker: Worker, id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#importing.delete(id);
    if (this.#waiting.size === 0) worker.unref();
    return waiting;
  }
}
