/** Usage and cost of a session's model calls. */
import { choiceId, choiceOf } from "../providers/choice.ts";
import type { ModelPrice } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { EntryOf, JournalEntry } from "./entry.ts";
import type { NewEntry } from "./journal.ts";

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

type LedgerPorts = {
  readonly priceOf: (model: ResolvedModel) => ModelPrice | undefined;
  readonly journal: (entry: NewEntry) => void;
};

/** Running total of a session, including the running turn. */
export class UsageLedger {
  #sum: UsageSum;
  readonly #ports: LedgerPorts;

  /** `entries`: the journal of earlier turns. */
  constructor(entries: readonly JournalEntry[], ports: LedgerPorts) {
    this.#sum = sumUsage(entries.filter((entry) => entry.type === "usage"));
    this.#ports = ports;
  }

  get sum(): UsageSum {
    return this.#sum;
  }

  /** Adds one model call. Without a price the total cost becomes unknown. */
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

  /** Writes the total of several calls to the journal. */
  record(usage: Usage, model: ResolvedModel): void {
    const { priceOf, journal } = this.#ports;
    const costUsd = costOf(usage, priceOf(model));
    journal({ type: "usage", model: choiceId(choiceOf(model)), ...usage, ...(costUsd !== undefined && { costUsd }) });
  }

  /** Adds and records an auxiliary call, such as a summary or a title. */
  addAuxiliary(usage: Usage, model: ResolvedModel): void {
    this.add(usage, model);
    this.record(usage, model);
  }
}
