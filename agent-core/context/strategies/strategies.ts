/** The strategies by their names. */
import { hybrid } from "./hybrid.ts";
import { importance } from "./importance.ts";
import { recency } from "./recency.ts";
import type { Strategy } from "./strategy.ts";
import { summary } from "./summary.ts";

export const strategies: readonly Strategy[] = [summary, recency, importance, hybrid];

/** The default for a name that there is not. */
export function strategyOf(name: string): Strategy {
  return strategies.find((strategy) => strategy.name === name) ?? summary;
}
