/** What the model calls of a session have taken so far, the running turn included. */
import type { ModelPrice } from "../providers/model-info.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { JournalEntry } from "../sessions/entry.ts";
import { costOf, sumUsage, type UsageSum } from "../sessions/usage-sum.ts";

export class UsageLedger {
  #sum: UsageSum;

  /** `entries`: what the journal tells of earlier turns. */
  constructor(entries: readonly JournalEntry[]) {
    this.#sum = sumUsage(entries.filter((entry) => entry.type === "usage"));
  }

  get sum(): UsageSum {
    return this.#sum;
  }

  /** One model call; its cost is unknown without a price, and with it the sum's. */
  add(usage: Usage, price: ModelPrice | undefined): void {
    const costUsd = costOf(usage, price);
    const before = this.#sum;
    this.#sum = {
      inputTokens: before.inputTokens + usage.inputTokens,
      outputTokens: before.outputTokens + usage.outputTokens,
      cachedInputTokens: before.cachedInputTokens + usage.cachedInputTokens,
      reasoningTokens: before.reasoningTokens + usage.reasoningTokens,
      costUsd: before.costUsd === undefined || costUsd === undefined ? undefined : before.costUsd + costUsd,
    };
  }
}
