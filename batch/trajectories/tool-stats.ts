/** Counts of tool calls and of thoughts, by the original's rules. */
import { parseJson } from "../../agent-core/platform/json.ts";
import type { HermesTrajectory, ShareGptTurn } from "../../agent-core/protocol/trajectory.ts";

export type ToolCounts = { readonly count: number; readonly success: number; readonly failure: number };

export type ToolStats = Readonly<Record<string, ToolCounts>>;

/** Counts for all known tools: data sets need the same columns in each line. */
export function toolStats({ messages, knownTools, failedCalls }: HermesTrajectory): {
  readonly toolStats: ToolStats;
  readonly unknownTools: readonly string[];
} {
  const failed = new Set(failedCalls);
  const results = new Map(
    messages.flatMap(({ callId, text }) => (callId === undefined ? [] : [[callId, text] as const])),
  );
  const stats = new Map(knownTools.map((name) => [name, { count: 0, success: 0, failure: 0 }]));
  const unknown = new Set<string>();
  for (const { id, name } of messages.flatMap(({ calls = [] }) => calls)) {
    const of = stats.get(name);
    if (of === undefined) {
      unknown.add(name);
      continue;
    }
    of.count += 1;
    const text = results.get(id);
    if (text === undefined) continue; // it was stopped
    // A command that ends with another exit code than 0 is an answer.
    const isFailure = reportsError(text) || (failed.has(id) && name !== "terminal");
    if (isFailure) of.failure += 1;
    else of.success += 1;
  }
  return { toolStats: Object.fromEntries(stats), unknownTools: [...unknown] };
}

/** True for JSON with an error or without success, and for a text that begins with `Error:`. */
function reportsError(text: string): boolean {
  const json = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  if (typeof json !== "object" || json === null) return text.trimStart().toLowerCase().startsWith("error:");
  const { error, success } = { error: undefined, success: undefined, ...json };
  return Boolean(error) || success === false;
}

export type Reasoning = { readonly turns: number; readonly reasoned: number };

/** Answers of a conversation, and those with thoughts. */
export function reasoningOf(conversations: readonly ShareGptTurn[]): Reasoning {
  const answers = conversations.filter(({ from }) => from === "gpt");
  return {
    turns: answers.length,
    reasoned: answers.filter(({ value }) => /<think>\s*(?!\s|<\/think>)/.test(value)).length,
  };
}
