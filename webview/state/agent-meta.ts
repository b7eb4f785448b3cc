/**
 * Fields that our agent adds to ACP records in `_meta.hermes`. Another agent may put anything there, so each reader checks
 * its field. The readers do without zod, which would make the panel's bundle a third larger.
 */

import type {
  HermesActivityMeta,
  HermesAnchor,
  HermesCompressionMeta,
  HermesHookRun,
  HermesRetryMeta,
  HermesUsageMeta,
} from "../../agent-core/protocol/conversation.ts";
import type { HermesNewProblem } from "../../agent-core/protocol/editor.ts";

export type Meta = Readonly<Record<string, unknown>> | null | undefined;

/** An unchecked field; undefined when it is missing. */
export function hermesField(meta: Meta, name: string): unknown {
  return fieldsOf(meta?.["hermes"])[name];
}

/** Fields of an object; none for any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Index of the user's message among all messages of the session. */
export function positionIn(meta: Meta): number | undefined {
  const position = hermesField(meta, "position");
  return typeof position === "number" ? position : undefined;
}

/** Work of the agent in a running turn: it waits for its model, or tool calls run. */
export type Activity = Extract<HermesActivityMeta["activity"], "thinking" | "tools">;

export function activityIn(meta: Meta): Activity | undefined {
  const activity = hermesField(meta, "activity");
  return activity === "thinking" || activity === "tools" ? activity : undefined;
}

/** Fill level of the model's context window. */
export type ContextPressure = HermesUsageMeta["contextPressure"];

/** Default: `low`. */
export function pressureIn(meta: Meta): ContextPressure {
  const level = hermesField(meta, "contextPressure");
  return level === "high" || level === "full" ? level : "low";
}

/** A wait before a retry of a model call. */
export type RetryUpdate = HermesRetryMeta["retry"];

export function retryIn(meta: Meta): RetryUpdate | undefined {
  const { id, reason, delayMs, waitedMs } = fieldsOf(hermesField(meta, "retry"));
  if (typeof id !== "string" || typeof reason !== "string") return undefined;
  return typeof delayMs === "number" && typeof waitedMs === "number" ? { id, reason, delayMs, waitedMs } : undefined;
}

/** Messages that the agent replaced by a summary, and the tokens that this saved. */
export type CompressionUpdate = HermesCompressionMeta["compression"];

export function compressionIn(meta: Meta): CompressionUpdate | undefined {
  const fields = fieldsOf(hermesField(meta, "compression"));
  const { messages, tokensBefore, tokensAfter, summary } = fields;
  const [first, firstKept] = [anchorOf(fields["first"]), anchorOf(fields["firstKept"])];
  const hasCounts = typeof messages === "number" && typeof tokensBefore === "number" && typeof tokensAfter === "number";
  if (!hasCounts || first === undefined || firstKept === undefined) return undefined;
  return {
    messages,
    tokensBefore,
    tokensAfter,
    summary: typeof summary === "string" ? summary : null,
    first,
    firstKept,
  };
}

function anchorOf(value: unknown): HermesAnchor | null | undefined {
  if (value === null) return null;
  const { position, toolCallId } = fieldsOf(value);
  if (typeof position === "number") return { position };
  return typeof toolCallId === "string" ? { toolCallId } : undefined;
}

/** Problems in a content part of a tool call; undefined when the part has none. */
export function problemsIn(meta: Meta): readonly HermesNewProblem[] | undefined {
  const problems = hermesField(meta, "problems");
  return Array.isArray(problems) ? problems.flatMap(problemOf) : undefined;
}

function problemOf(value: unknown): HermesNewProblem[] {
  const { path, line, severity, text } = fieldsOf(value);
  if (typeof path !== "string" || typeof line !== "number" || typeof text !== "string") return [];
  return severity === "error" || severity === "warning" ? [{ path, line, severity, text }] : [];
}

const hookOutcomes = ["passed", "changed", "blocked", "failed"] as const;

/** Runs of hooks for a tool call; undefined when the update names none. */
export function hooksIn(meta: Meta): readonly HermesHookRun[] | undefined {
  const hooks = hermesField(meta, "hooks");
  return Array.isArray(hooks) ? hooks.flatMap(hookOf) : undefined;
}

function hookOf(value: unknown): HermesHookRun[] {
  const { name, event, outcome: written, durationMs, message } = fieldsOf(value);
  const outcome = hookOutcomes.find((known) => known === written);
  if (typeof name !== "string" || typeof event !== "string" || outcome === undefined) return [];
  const run = { name, event, outcome, durationMs: typeof durationMs === "number" ? durationMs : 0 };
  return [typeof message === "string" ? { ...run, message } : run];
}

/** True for content that says the same as the runs of hooks. */
export function isHookText(meta: Meta): boolean {
  return hermesField(meta, "hookText") === true;
}
