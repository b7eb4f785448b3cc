/** Time and chance as a call needs them; a test gives its own. */
import { setTimeout as delay } from "node:timers/promises";

export type Clock = {
  /** Settles after so many milliseconds of a clock that never jumps; rejects with the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
};

export const systemClock: Clock = {
  async wait(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
  random: Math.random,
};
