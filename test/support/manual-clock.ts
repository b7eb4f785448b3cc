/** Clock that moves only when a test says so. */
import type { Clock } from "../../agent-core/platform/clock.ts";

type Timer = { at: number; readonly everyMs: number | undefined; readonly call: () => void };

export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #time: number;

  constructor(startMs = 0) {
    this.#time = startMs;
  }

  now(): number {
    return this.#time;
  }

  monotonicNow(): number {
    return this.#time;
  }

  random(): number {
    return 0;
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = this.#add({ at: this.#time + ms, everyMs: undefined, call: resolve });
    const cancel = (): void => {
      stop();
      reject(signal.reason);
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    return promise.finally(() => signal.removeEventListener("abort", cancel));
  }

  every(ms: number, tick: () => void): () => void {
    return this.#add({ at: this.#time + ms, everyMs: ms, call: tick });
  }

  /** Fires every timer that is due within `ms` milliseconds, in order of time, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#time = Math.max(this.#time, next.at);
      this.#fire(next);
      await settled();
    }
    this.#time = end;
    await settled();
  }

  /** Moves the time on at once, as after a machine's sleep: each timer that is due fires a single time. */
  async stall(ms: number): Promise<void> {
    this.#time += ms;
    for (const timer of [...this.#timers]) if (timer.at <= this.#time) this.#fire(timer);
    await settled();
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  #next(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
  }

  #fire(timer: Timer): void {
    if (timer.everyMs === undefined) this.#timers.delete(timer);
    else timer.at = this.#time + timer.everyMs;
    timer.call();
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
