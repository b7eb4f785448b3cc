/** Time that this process was awake for: while it or the machine stood still, nothing was slow and nobody was idle. */
export class WakingTime {
  readonly #longestStepMs: number;
  #last = performance.now();
  #spentMs = 0;

  /** Of the time between two looks so much counts at most: more than one step of the work takes. */
  constructor(longestStepMs: number) {
    this.#longestStepMs = longestStepMs;
  }

  /** Milliseconds since the beginning; to be asked after each step. */
  look(): number {
    const now = performance.now();
    this.#spentMs += Math.min(now - this.#last, this.#longestStepMs);
    this.#last = now;
    return this.#spentMs;
  }
}
