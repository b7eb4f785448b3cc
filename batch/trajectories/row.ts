/** A line of batch_N.jsonl: one task's conversation with the original's fields. */
import * as z from "zod";
import { pythonJson, pythonTime } from "../../agent-core/platform/python-json.ts";
import { ShareGptTurn } from "../../agent-core/protocol/trajectory.ts";
import type { TaskResult } from "../task.ts";
import { reasoningOf } from "./tool-stats.ts";

/** A stored line, with the fields that are read again. */
export const storedRow = z.object({
  prompt_index: z.number(),
  conversations: z.array(ShareGptTurn).min(1),
  failed: z.boolean().optional(),
  tool_stats: z.record(z.string(), z.object({ count: z.number(), success: z.number(), failure: z.number() })),
  metadata: z.looseObject({
    hermes: z
      .looseObject({ key: z.string(), cost_usd: z.number().nullish(), unknown_tools: z.array(z.string()).optional() })
      .optional(),
  }),
});
export type StoredRow = z.infer<typeof storedRow>;

/** A conversation without a single thought is no training data, as in the original. */
export function isDiscarded({ conversations, outcome }: Pick<TaskResult, "conversations" | "outcome">): boolean {
  return outcome !== "failed" && reasoningOf(conversations).reasoned === 0;
}

export function discardedLine({ key, index, costUsd }: TaskResult): string {
  return pythonJson({ key, prompt_index: index, reason: "no reasoning", cost_usd: costUsd ?? null });
}

/** The original's fields in its order. Ours stand in `metadata.hermes`. */
export function rowOf(result: TaskResult, now: number): object {
  const { outcome, conversations, toolStats, steps } = result;
  const usages = steps.flatMap(({ usage }) => usage ?? []);
  return {
    prompt_index: result.index,
    conversations,
    metadata: {
      batch_num: result.batch,
      timestamp: pythonTime(now),
      model: result.model,
      hermes: {
        key: result.key,
        sample: result.sample,
        outcome,
        error: result.error,
        attempts: result.attempts,
        duration_ms: result.durationMs,
        cost_usd: result.costUsd ?? null,
        usage: {
          input_tokens: usages.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
          output_tokens: usages.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
          cached_tokens: usages.reduce((sum, { cachedInputTokens }) => sum + cachedInputTokens, 0),
        },
        steps: steps.map(({ usage, costUsd, tokens }) => ({
          input_tokens: usage?.inputTokens,
          output_tokens: usage?.outputTokens,
          cached_tokens: usage?.cachedInputTokens,
          cost_usd: costUsd,
          prompt_token_ids: tokens?.promptIds,
          completion_token_ids: tokens?.completionIds,
          logprobs: tokens?.logprobs,
        })),
        denied: result.denied,
        unknown_tools: result.unknownTools,
      },
    },
    completed: outcome === "completed",
    partial: outcome === "partial",
    api_calls: steps.length,
    toolsets_used: result.toolsets,
    tool_stats: toolStats,
    tool_error_counts: Object.fromEntries(Object.entries(toolStats).map(([name, { failure }]) => [name, failure])),
    ...(outcome === "failed" && { failed: true }),
  };
}
