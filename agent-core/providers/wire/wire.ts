/**
 * What a wire (one model API format) is: a request in the internal format in, a stream of model events out.
 * Wires never retry, never touch the history and never know a tool; they convert.
 */
import type { Message, ToolCall } from "../../messages/message.ts";
import type { Fault } from "../fault.ts";

/** API modes that exist; each has one wire, listed in table.gen.ts. */
export type ApiMode = "chat_completions" | "codex_responses" | "anthropic_messages" | "editor_model" | "offline";

/** A tool as the model is told of it; `parameters` is a JSON schema. */
export type ToolSchema = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** Sampling options; a wire passes those its API knows and leaves out the rest. */
export type Sampling = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop?: readonly string[];
  /** Ceiling of output tokens. */
  readonly maxTokens?: number;
  readonly reasoningEffort?: "minimal" | "low" | "medium" | "high";
};

/** Where a model is reached. */
export type Endpoint = {
  /** Name for messages to people: `openai`, `openrouter`, `offline` … */
  readonly provider: string;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
};

export type ModelRequest = {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** System message first; already repaired (messages/repair.ts). */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly sampling: Sampling;
  /** How long a prompt cache that is marked by hand shall live (Anthropic's). Default: `5m`; `1h` costs more to write. */
  readonly cacheTtl?: "5m" | "1h";
};

/** Token counts of one call. `inputTokens` includes cached ones, `outputTokens` includes reasoning. */
export type Usage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
};

export type FinishReason = "stop" | "tool_calls" | "length" | "refusal";

/**
 * One event of a model's answer. A stream ends with exactly one `finish` or `fault`, or throws the signal's reason
 * when it was aborted. Tool calls may interleave; `index` tells them apart, and `tool-call-end` comes as soon as the
 * call is complete.
 */
export type ModelEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "tool-call-end"; readonly index: number; readonly call: ToolCall }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
      readonly reasoningDetails?: readonly unknown[];
    }
  | { readonly type: "fault"; readonly fault: Fault };

export type Wire = {
  readonly mode: ApiMode;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};

/** Declares a wire; the table of wires is generated from the files that export one as `wire`. */
export function defineWire(wire: Wire): Wire {
  return wire;
}
