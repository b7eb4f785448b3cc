/** What the model calls of a session have taken so far, the running turn included. */
import { choiceId, choiceOf } from "../providers/choice.ts";
import type { ModelPrice } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { JournalEntry } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import { costOf, sumUsage, type UsageSum } from "../sessions/usage-sum.ts";

export type LedgerPorts = {
  readonly priceOf: (model: ResolvedModel) => ModelPrice | undefined;
  readonly journal: (entry: NewEntry) => void;
};

export class UsageLedger {
  #sum: UsageSum;
  readonly #ports: LedgerPorts;

  /** `entries`: what the journal tells of earlier turns. */
  constructor(entries: readonly JournalEntry[], ports: LedgerPorts) {
    this.#sum = sumUsage(entries.filter((entry) => entry.type === "usage"));
    this.#ports = ports;
  }

  get sum(): UsageSum {
    return this.#sum;
  }

  /** One model call; its cost is unknown without a price, and with it the sum's. */
  add(usage: Usage, model: ResolvedModel): void {
    const costUsd = costOf(usage, this.#ports.priceOf(model));
    const before = this.#sum;
    this.#sum = {
      inputTokens: before.inputTokens + usage.inputTokens,
      outputTokens: before.outputTokens + usage.outputTokens,
      cachedInputTokens: before.cachedInputTokens + usage.cachedInputTokens,
      reasoningTokens: before.reasoningTokens + usage.reasoningTokens,
      costUsd: before.costUsd === undefined || costUsd === undefined ? undefined : before.costUsd + costUsd,
    };
  }

  /** Writes down what calls took together. */
  record(usage: Usage, model: ResolvedModel): void {
    const { priceOf, journal } = this.#ports;
    const costUsd = costOf(usage, priceOf(model));
    journal({ type: "usage", model: choiceId(choiceOf(model)), ...usage, ...(costUsd !== undefined && { costUsd }) });
  }

  /** A call beside the conversation: a summary, a title. It is paid for like any other. */
  addAuxiliary(usage: Usage, model: ResolvedModel): void {
    this.add(usage, model);
    this.record(usage, model);
  }
}
