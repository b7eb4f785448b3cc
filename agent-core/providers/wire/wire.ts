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
  /** Top-level parameters, as this API names them, that the model was found not to take; default: none. */
  readonly omittedParameters?: readonly string[];
  /** For the mode `editor_model` only. */
  readonly editorModels?: EditorModels;
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
  /** Nothing new, but the server is there; never leaves `streamModel`. */
  | { readonly type: "alive" }
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
  /** Loads what the first request to the endpoint needs; sends nothing. */
  warmUp?(endpoint: Endpoint): Promise<void>;
};

/** Declares a wire; the table of wires is generated from the files that export one as `wire`. */
export function defineWire(wire: Wire): Wire {
  return wire;
}

/** A model that the editor itself offers. */
export type EditorModel = {
  /** As the editor names it when it is asked for the model; unique there. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Who offers it: `copilot`, or the extension's own name. */
  readonly vendor: string;
  /** Tokens of input that it takes. */
  readonly maxInputTokens: number;
};

/** The editor's models as the mode `editor_model` reaches them: over ACP, or a fake in tests. */
export type EditorModels = {
  /** Those that can be asked now; empty when there are none. */
  list(signal: AbortSignal): Promise<readonly EditorModel[]>;
  /** One answer, under the promises of `Wire.stream`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};
