/** Strategies of a compression: each chooses the messages to drop. */
import { byImportance } from "./importance.ts";
import type { Unit } from "./units.ts";

export type Strategy = {
  /** Value of `compression.strategy` in config.yaml. */
  readonly name: string;
  /** True when a model sums up the dropped messages; otherwise a digest replaces them. */
  readonly summarizes: boolean;
  /** Units to drop from `units`, which are in the conversation's order. `excess` is the number of tokens to save. */
  choose(units: readonly Unit[], excess: number): readonly Unit[];
};

/** Newest units that the hybrid strategy keeps. */
const KEPT_UNITS = 5;

/** Replaces the whole middle by one summary, which keeps the next compression far away. */
const summary: Strategy = { name: "summary", summarizes: true, choose: (units) => units };

/** Drops the oldest units, without asking a model. */
const recency: Strategy = { name: "recency", summarizes: false, choose: firstOf };

/** Drops the least important units. */
const importance: Strategy = {
  name: "importance",
  summarizes: true,
  choose: (units, excess) => firstOf(byImportance(units), excess),
};

/** Drops the least important units, but keeps the newest. */
const hybrid: Strategy = {
  name: "hybrid",
  summarizes: true,
  choose: (units, excess) => firstOf(byImportance(units.slice(0, -KEPT_UNITS)), excess),
};

export const strategies: readonly Strategy[] = [summary, recency, importance, hybrid];

/** Strategy by its name; `summary` for an unknown name. */
export function strategyOf(name: string): Strategy {
  return strategies.find((strategy) => strategy.name === name) ?? summary;
}

/** Units from the front of `order` that have `excess` tokens together. */
function firstOf(order: readonly Unit[], excess: number): readonly Unit[] {
  const chosen: Unit[] = [];
  let left = excess;
  for (const unit of order) {
    if (left <= 0) break;
    chosen.push(unit);
    left -= unit.tokens;
  }
  return chosen;
}
