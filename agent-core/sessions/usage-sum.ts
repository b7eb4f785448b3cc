/** Sum and cost of a session's model calls. */
import type { ModelPrice } from "../providers/model-info.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { EntryOf } from "./entry.ts";

/** Providers give prices per million tokens. */
const PRICED_TOKENS = 1_000_000;

type UsageEntry = Omit<EntryOf<"usage">, "at">;

export type UsageSum = Usage & {
  /** US dollars; undefined when any price is unknown. */
  readonly costUsd: number | undefined;
};

/** US dollars; undefined without a price. Input from the provider's cache has its own price. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const fresh = Math.max(0, inputTokens - cachedInputTokens);
  return (fresh * price.input + cachedInputTokens * price.cachedInput + outputTokens * price.output) / PRICED_TOKENS;
}

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
