/** What a strategy is: which of the units that may go are to go. */
import type { Unit } from "../units.ts";

export type Strategy = {
  /** As `context.strategy` names it. */
  readonly name: string;
  /** A model sums up what goes; otherwise a list of what was done stands for it. */
  readonly summarizes: boolean;
  /** Units to drop, of those in the conversation's order that may go; `excess`: tokens that are too many. */
  choose(units: readonly Unit[], excess: number): readonly Unit[];
};

/** From the front of `order` until `excess` is gone. */
export function untilGone(order: readonly Unit[], excess: number): readonly Unit[] {
  const chosen: Unit[] = [];
  let left = excess;
  for (const unit of order) {
    if (left <= 0) break;
    chosen.push(unit);
    left -= unit.tokens;
  }
  return chosen;
}
