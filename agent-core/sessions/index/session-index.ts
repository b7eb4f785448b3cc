/**
 * The agent's access to the index over all sessions. Questions go to a separate thread, so that no turn waits for
 * SQLite. The first question starts the thread.
 */
import type { Worker } from "node:worker_threads";
import type { ImportOptions, ImportReport } from "../import/import-sessions.ts";
import type {
  Answer,
  Building,
  FromIndex,
  IndexPlace,
  QuestionArguments,
  QuestionName,
  ToIndex,
} from "./index-messages.ts";

export type SessionIndexOptions = IndexPlace & {
  /** Receives one line about a snapshot that could not be written or read. */
  readonly log: (line: string) => void;
  /** Called when a long build starts, progresses and ends (`done` equals `total`). */
  readonly building?: (building: Building) => void;
};

/** `signal` stops the import between two sessions. Finished ones stay and are in the report. */
export type SessionImport = Pick<ImportOptions, "from" | "progress" | "signal">;

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void };

export class SessionIndex {
  readonly #options: SessionIndexOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** Progress callbacks of running imports. */
  readonly #importing = new Map<number, SessionImport["progress"]>();
  #worker: Worker | undefined;
  #asked = 0;

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /**
   * Answers from the current journals. During a long build the answer covers the indexed part and says so. Rejects when
   * SQLite cannot be loaded.
   */
  async ask<Name extends QuestionName>(name: Name, ...args: QuestionArguments<Name>): Promise<Answer<Name>> {
    return this.#request(this.#start(), (id) => ({ type: "ask", id, name, args }));
  }

  /** Imports sessions from an original Hermes home. Rejects with an Error in one line when it cannot be read. */
  async import({ from, progress, signal }: SessionImport): Promise<ImportReport> {
    const worker = this.#start();
    let cancel = (): void => undefined;
    const report = this.#request<ImportReport>(worker, (id) => {
      this.#importing.set(id, progress);
      cancel = () => worker.postMessage({ type: "cancel", id } satisfies ToIndex);
      return { type: "import", id, from };
    });
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
    return report.finally(() => signal.removeEventListener("abort", cancel));
  }

  /** Saves the index and ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
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

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const { journals, file, log } = this.#options;
    const worker = startIndexWorker({ journals, file });
    worker.on("message", (message: FromIndex) => this.#receive(worker, message));
    worker.once("error", (error) => log(`The session index stopped: ${String(error)}`));
    worker.once("exit", () => this.#ended());
    for (const stream of [worker.stdout, worker.stderr]) stream.resume();
    this.#worker = worker;
    return worker;
  }

  /** The next question starts a new thread. */
  #ended(): void {
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error("The session index stopped."));
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
        this.#take(worker, message.id)?.resolve(message.answer as never); // the type that its question or import expects
        return;
      case "importing":
        this.#importing.get(message.id)?.(message.done, message.total);
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

/** Path of the thread's script in the bundle, relative to this module's chunk; absent when the sources run. */
declare const __INDEX_WORKER__: string | undefined;

/** The thread's output is piped and dropped, since standard output belongs to the protocol. */
function startIndexWorker(place: IndexPlace): Worker {
  const script = typeof __INDEX_WORKER__ === "string" ? __INDEX_WORKER__ : "./index-worker.ts";
  const options = { workerData: place, stdout: true, stderr: true, execArgv: [], name: "hermes-index" };
  const threads = process.getBuiltinModule("node:worker_threads"); // an import would take half a millisecond of each start
  return new threads.Worker(new URL(script, import.meta.url), options);
}

/** Sentence for an answer that the index gave while it was being built. */
export function stillBuilding({ done, total }: Building): string {
  return `The session index is still being built (${done} of ${total}), so older sessions may be missing.`;
}
