/** A thought's name that stays when its session is shown again, of which more or less may be there then. */
import type { Entry } from "./state.ts";

/**
 * Position of the user's message that it follows, and its number since. `key`: of the thought; one that is not among
 * the entries grows behind them. Undefined where the message is not there, or its position not told.
 */
export function placeOfThought(entries: readonly Entry[], key: string): string | undefined {
  const place = entries.findLastIndex((entry) => entry.key === key);
  let number = 0;
  for (let index = (place < 0 ? entries.length : place) - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.type === "thought") number += 1;
    if (entry?.type === "user") return entry.position === undefined ? undefined : `${entry.position}.${number}`;
  }
  return undefined;
}
