/** Waiting for the rest of what comes, which has no end of its own. */
import { setTimeout as delay } from "node:timers/promises";

/** In each of them what has come is taken. */
const STEPS = 10;

/**
 * Resolves when `over` settles, and when nothing came for so long; `came` says whether anything did since it was last
 * asked (default: nothing comes but the end). Gives what was left of the time, 0 when it has run out. Steps are counted,
 * not time: what comes while this process stands still is taken in the next one.
 */
export async function untilQuiet(over: Promise<unknown>, quietMs: number, came = () => false): Promise<number> {
  let isOver = false as boolean;
  const end = (): void => {
    isOver = true;
  };
  const ended = over.then(end, end);
  let quiet = 0;
  while (quiet < STEPS && !isOver) {
    await Promise.race([ended, delay(quietMs / STEPS, undefined, { ref: false })]);
    quiet = came() ? 0 : quiet + 1;
  }
  return isOver ? quietMs * (1 - quiet / STEPS) : 0;
}
