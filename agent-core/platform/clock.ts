/** Time and chance as the agent needs them; a test injects its own. */
import { setTimeout as delay } from "node:timers/promises";

export type Clock = {
  /** Wall clock time in milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps; only differences mean anything. */
  monotonicNow(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `tick` every `ms` milliseconds until the returned function is called. Does not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
  /** Random number in [0, 1). */
  random(): number;
};

export const systemClock: Clock = {
  now: Date.now,
  monotonicNow: () => performance.now(),
  async wait(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref();
    return () => clearInterval(timer);
  },
  random: Math.random,
};

/** Date of the machine's time zone, `2026-11-23`. */
export function localDate(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Date `days` days after `date`; negative: before it. */
export function dayAfter(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, "2026-11-23".length);
}
