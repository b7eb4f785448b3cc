/** Fields that our agent adds to ACP records in `_meta.hermes`. The host has checked them: another agent may put anything there. */
import type { HermesUpdateMeta } from "../../agent-core/protocol/update-meta.ts";

export type Meta = Readonly<Record<string, unknown>> | null | undefined;

export function ourMeta(meta: Meta): HermesUpdateMeta {
  return fieldsOf(meta?.["hermes"]);
}

/** Fields of an object; none for any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Work of the agent in a running turn: it waits for its model, or tool calls run. */
export type Activity = Extract<HermesUpdateMeta["activity"], "thinking" | "tools">;
/** Fill level of the model's context window. */
export type ContextPressure = NonNullable<HermesUpdateMeta["contextPressure"]>;
/** A wait before a retry of a model call. */
export type RetryUpdate = NonNullable<HermesUpdateMeta["retry"]>;
/** Messages that the agent replaced by a summary, and the tokens that this saved. */
export type CompressionUpdate = NonNullable<HermesUpdateMeta["compression"]>;
