/** Time limits: a deadline that ignores stalls of this process, and the wait for one event. */
import { type Clock, systemClock } from "./clock.ts";

/** `waitFor` checks the time this often within the limit. */
const CHECKS = 10;
/** A stall counts as this part of the limit at most; twice the interval of the checks, so that late timers count. */
const LARGEST_STEP = 2 / CHECKS;

/**
 * Time limit that counts only the time this process was awake. After a stall or a machine's sleep, timers fire before
 * the data that arrived meanwhile; an ordinary timeout would then end work that was never slow.
 */
export class Deadline {
  readonly limitMs: number;
  readonly #clock: Clock;
  #last: number;
  #elapsedMs = 0;

  constructor(limitMs: number, clock: Clock = systemClock) {
    this.limitMs = limitMs;
    this.#clock = clock;
    this.#last = clock.monotonicNow();
  }

  /** Milliseconds awake since the start. A loop calls this after each step, as a long gap between two calls is a stall. */
  elapsed(): number {
    const now = this.#clock.monotonicNow();
    this.#elapsedMs += Math.min(now - this.#last, this.limitMs * LARGEST_STEP);
    this.#last = now;
    return this.#elapsedMs;
  }

  /** Milliseconds awake that are left. */
  remaining(): number {
    return Math.max(0, this.limitMs - this.elapsed());
  }

  hasPassed(): boolean {
    return this.remaining() === 0;
  }

  /** Starts over: an idle timeout restarts with every piece of data. */
  restart(): void {
    this.#elapsedMs = 0;
    this.#last = this.#clock.monotonicNow();
  }

  /** Resolves with true once `work` settles, with false when the deadline passes first. Never rejects. */
  async waitFor(work: Promise<unknown>): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = this.#clock.every(this.limitMs / CHECKS, () => this.hasPassed() && resolve(false));
    const settle = (): void => resolve(true);
    work.then(settle, settle);
    try {
      return await promise;
    } finally {
      stop();
    }
  }
}

/** Subscription as VS Code returns it. */
type Subscription = { dispose(): unknown };

/**
 * Resolves with true when `subscribe`'s callback is called, and with false after `timeoutMs`. `subscribe` runs at once;
 * its subscriptions are disposed of in either case. Rejects with any error that `subscribe` throws.
 */
export async function waitForEvent(
  timeoutMs: number,
  subscribe: (onEvent: () => void) => readonly Subscription[],
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  let subscriptions: readonly Subscription[] = [];
  try {
    subscriptions = subscribe(() => resolve(true));
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const subscription of subscriptions) subscription.dispose();
  }
}

/** Settles as `work`; rejects with the signal's reason when the signal is aborted first. */
export async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  work.catch(() => undefined); // after an abort nobody else handles its failure, which would end the process
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
