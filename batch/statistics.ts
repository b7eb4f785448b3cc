/** statistics.json and checkpoint.json, as the original writes them. */
import { PythonFloat, pythonTime } from "../agent-core/platform/python-json.ts";
import type { StoredRow } from "./trajectories/row.ts";
import { reasoningOf, type ToolCounts, type ToolStats } from "./trajectories/tool-stats.ts";

export type Merged = {
  readonly results: number;
  /** Tasks whose every try failed. */
  readonly failures: number;
  readonly discarded: number;
  readonly costUsd: number;
  readonly tools: ToolStats;
  readonly reasoning: { readonly turns: number; readonly reasoned: number };
};

/** Sums over the lines of a run. Of several lines with one key, the first one that is no failure counts. */
export class Tally {
  readonly #keys = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #tools = new Map<string, { count: number; success: number; failure: number }>();
  #costUsd = 0;
  #turns = 0;
  #reasoned = 0;

  /** Returns true for a line that belongs into trajectories.jsonl: it counts, and calls no tool that does not exist. */
  add(row: StoredRow): boolean {
    const { hermes } = row.metadata;
    const key = hermes?.key ?? `${row.prompt_index}\n${row.conversations.find(({ from }) => from === "human")?.value}`;
    this.#costUsd += hermes?.cost_usd ?? 0;
    if (row.failed === true) this.#failed.add(key);
    if (row.failed === true || this.#keys.has(key)) return false;
    this.#keys.add(key);
    for (const [name, counts] of Object.entries(row.tool_stats)) this.#count(name, counts);
    const { turns, reasoned } = reasoningOf(row.conversations);
    this.#turns += turns;
    this.#reasoned += reasoned;
    return (hermes?.unknown_tools ?? []).length === 0;
  }

  #count(name: string, { count, success, failure }: ToolCounts): void {
    const sum = this.#tools.get(name) ?? { count: 0, success: 0, failure: 0 };
    this.#tools.set(name, { count: sum.count + count, success: sum.success + success, failure: sum.failure + failure });
  }

  end(discarded: number): Merged {
    return {
      results: this.#keys.size,
      failures: [...this.#failed].filter((key) => !this.#keys.has(key)).length,
      discarded,
      costUsd: this.#costUsd,
      tools: Object.fromEntries(this.#tools),
      reasoning: { turns: this.#turns, reasoned: this.#reasoned },
    };
  }
}

export type StatisticsFacts = {
  readonly name: string;
  readonly distribution: string;
  readonly prompts: number;
  readonly batches: number;
  readonly batchSize: number;
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  readonly now: number;
};

/** Content of statistics.json. Ours stand in `metadata`. */
export function statistics(facts: StatisticsFacts, { tools, reasoning, ...merged }: Merged): object {
  const { turns, reasoned } = reasoning;
  return {
    run_name: facts.name,
    distribution: facts.distribution,
    total_prompts: facts.prompts,
    total_batches: facts.batches,
    batch_size: facts.batchSize,
    model: facts.model,
    completed_at: pythonTime(facts.now),
    duration_seconds: rounded((facts.now - facts.beganAt) / 1_000),
    tool_statistics: Object.fromEntries(Object.entries(tools).map(([name, counts]) => [name, withRates(counts)])),
    reasoning_statistics: {
      total_assistant_turns: turns,
      turns_with_reasoning: reasoned,
      turns_without_reasoning: turns - reasoned,
    },
    metadata: {
      results: merged.results,
      failed: merged.failures,
      discarded: merged.discarded,
      cost_usd: merged.costUsd,
    },
  };
}

function withRates({ count, success, failure }: ToolCounts): object {
  const rate = (part: number): PythonFloat => rounded(count === 0 ? 0 : (part / count) * 100);
  return { count, success, failure, success_rate: rate(success), failure_rate: rate(failure) };
}

function rounded(value: number): PythonFloat {
  return new PythonFloat(Math.round(value * 100) / 100);
}

export type BatchCounts = { processed: number; skipped: number; discarded: number };

/** Content of checkpoint.json. `completed`: positions in the data set. */
export function checkpoint(
  name: string,
  { completed, batches, now }: { completed: readonly number[]; batches: ReadonlyMap<number, BatchCounts>; now: number },
): object {
  const stats = [...batches].map(([number, { processed, skipped, discarded }]) => {
    return [String(number), { processed, skipped, discarded_no_reasoning: discarded }] as const;
  });
  return {
    run_name: name,
    completed_prompts: completed.toSorted((first, second) => first - second),
    batch_stats: Object.fromEntries(stats),
    last_updated: pythonTime(now),
  };
}
