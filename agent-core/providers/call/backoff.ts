/** How long to wait before the next try. */

/** Before the second request; doubles with each. Short, because a person looks on. */
const BASE_MS = 1_000;
const CAP_MS = 120_000;
/** Share of the delay that is added at random, so that many clients do not come back at once; original-agent-facts.md §1.6. */
const JITTER = 0.5;

/** Milliseconds. `tries` counts the requests sent, from 1; `floorMs` is the provider's `Retry-After`; `random` in [0, 1). */
export function backoffMs(tries: number, floorMs: number, random: number): number {
  const delay = Math.max(floorMs, Math.min(CAP_MS, BASE_MS * 2 ** (tries - 1)));
  return Math.round(delay * (1 + JITTER * random));
}
