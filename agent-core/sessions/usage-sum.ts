/** What the model calls of a session took together, and what they cost as far as prices are known. */
import type { ModelPrice } from "../providers/model-info.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { EntryOf } from "./entry.ts";

/** Prices are for so many tokens. */
const PRICED_TOKENS = 1_000_000;

type UsageEntry = Omit<EntryOf<"usage">, "at">;

export type UsageSum = Usage & {
  /** In US dollars; undefined when the price of any of it is unknown. */
  readonly costUsd: number | undefined;
};

/** In US dollars; undefined without a price. Input that came from the provider's cache has its own. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * price.input + cachedInputTokens * price.cachedInput + outputTokens * price.output) / PRICED_TOKENS;
}

/** Sums the usage entries of a journal. */
export function sumUsage(entries: readonly UsageEntry[]): UsageSum {
  const sum = (field: (entry: UsageEntry) => number): number =>
    entries.reduce((total, entry) => total + field(entry), 0);
  const costs = entries.map(({ costUsd }) => costUsd);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedInputTokens: sum(({ cachedInputTokens }) => cachedInputTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    costUsd: costs.reduce((total, cost) => (total === undefined || cost === undefined ? undefined : total + cost), 0),
  };
}
