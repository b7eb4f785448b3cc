/** Ends work on a signal: no further task begins; after a while, or on a second signal, the running ones end too. */

/** Signals of Ctrl-C, and of supervisors. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Time that running tasks get. Milliseconds. */
const DRAIN_MS = 60_000;

export class Stopping {
  readonly #stop = new AbortController();
  readonly #cancel = new AbortController();
  readonly #note: (text: string) => void;
  readonly #drainMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isInterrupted: boolean = false;

  constructor(note: (text: string) => void, drainMs: number = DRAIN_MS) {
    this.#note = note;
    this.#drainMs = drainMs;
    for (const name of SIGNALS) process.on(name, this.#signalled);
  }

  /** Aborted: no further task begins. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted: the running tasks end without a result. */
  get cancel(): AbortSignal {
    return this.#cancel.signal;
  }

  /** True when a signal ended the work, and not a budget. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Lets the running tasks end, and begins no further one. */
  end(): void {
    this.#stop.abort();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const name of SIGNALS) process.off(name, this.#signalled);
  }

  readonly #signalled = (): void => {
    if (this.#isInterrupted) {
      this.#cancel.abort();
      return;
    }
    this.#isInterrupted = true;
    this.#note(`Stopping: the running tasks get ${this.#drainMs / 1_000} seconds. A second signal ends them at once.`);
    this.end();
    this.#timer = setTimeout(() => this.#cancel.abort(), this.#drainMs);
  };
}
