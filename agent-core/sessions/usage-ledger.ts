/** Usage and cost of a session's model calls. */
import type { HermesContext } from "../protocol/sessions.ts";
import { choiceId, choiceOf } from "../providers/model-choice.ts";
import type { ModelPrice } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve-model.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { JournalEntry } from "./entry.ts";
import type { NewEntry } from "./journal.ts";

/** Providers give prices per million tokens. */
const PRICED_TOKENS = 1_000_000;

/** A count of the provider, and our estimate of the same messages. */
export type CountedTokens = { readonly counted: number; readonly estimated: number };

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

type PricedUsage = Usage & { readonly costUsd?: number | undefined };

export function sumUsage(entries: readonly PricedUsage[]): UsageSum {
  const sum = (field: (entry: PricedUsage) => number): number =>
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
  /** Sums by model, first used first. */
  readonly #models = new Map<string, UsageSum>();
  readonly #ports: LedgerPorts;
  readonly #counted: { readonly model: string; readonly context: CountedTokens } | undefined;

  /** `entries`: the journal of earlier turns. */
  constructor(entries: readonly JournalEntry[], ports: LedgerPorts) {
    this.#ports = ports;
    for (const entry of entries) {
      if (entry.type !== "usage") continue;
      this.#add(entry.model, entry);
      if (entry.context !== undefined) this.#counted = { model: entry.model, context: entry.context };
    }
  }

  /** Size of the last call before this process, when `model` answered it. */
  lastCount(model: ResolvedModel): CountedTokens | undefined {
    return this.#counted?.model === choiceId(choiceOf(model)) ? this.#counted.context : undefined;
  }

  get sum(): UsageSum {
    return sumUsage([...this.#models.values()]);
  }

  get models(): HermesContext["models"] {
    return [...this.#models].map(([model, { inputTokens, cachedInputTokens, outputTokens, costUsd }]) => {
      return { model, inputTokens, cachedInputTokens, outputTokens, ...(costUsd !== undefined && { costUsd }) };
    });
  }

  /** Adds one model call and returns its cost. Without a price the total cost becomes unknown. */
  add(usage: Usage, model: ResolvedModel): number | undefined {
    const costUsd = costOf(usage, this.#ports.priceOf(model));
    this.#add(choiceId(choiceOf(model)), { ...usage, costUsd });
    return costUsd;
  }

  /** Writes the total of several calls to the journal. `context`: size of the last one. */
  record(usage: Usage, model: ResolvedModel, context?: CountedTokens): void {
    const { priceOf, journal } = this.#ports;
    const costUsd = costOf(usage, priceOf(model));
    const known = { ...(costUsd !== undefined && { costUsd }), ...(context && { context }) };
    journal({ type: "usage", model: choiceId(choiceOf(model)), ...usage, ...known });
  }

  /** Adds and records an auxiliary call, such as a summary or a title. */
  addAuxiliary(usage: Usage, model: ResolvedModel): void {
    this.add(usage, model);
    this.record(usage, model);
  }

  #add(model: string, usage: PricedUsage): void {
    const before = this.#models.get(model);
    this.#models.set(model, sumUsage(before === undefined ? [usage] : [before, usage]));
  }
}
