/**
 * A wire converts between the internal format and one model API: a request in, a stream of model events out. Wires do
 * not retry, and do not know history or tools.
 */
import type * as z from "zod";
import type { Message, ToolCall } from "../../messages/message.ts";
import type { HermesModelList } from "../../protocol/editor-models.ts";
import type { HermesModelStep, HermesToolSchema } from "../../protocol/trajectory.ts";
import type { Fault } from "../fault.ts";

/** Each mode has one wire in table.gen.ts. */
export const API_MODES = [
  "chat_completions",
  "codex_responses",
  "anthropic_messages",
  "editor_model",
  "offline",
] as const;
export type ApiMode = (typeof API_MODES)[number];

export type ToolSchema = z.infer<typeof HermesToolSchema>;

/** Sampling options. A wire sends those that its API supports. */
export type Sampling = {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  /** Maximum number of output tokens. */
  readonly maxTokens?: number | undefined;
  readonly reasoningEffort?: "minimal" | "low" | "medium" | "high" | undefined;
};

/** Access to a model. */
export type Endpoint = {
  /** Name in messages to people: `openai`, `openrouter`, `offline` … */
  readonly provider: string;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Name in `dialects`, for a proxy in front of that service. Default: the dialect of the address. */
  readonly dialect?: string | undefined;
  /** `off`: calls and thoughts in the text stay text. Default: they are read. */
  readonly textCalls?: string | undefined;
};

export type ModelRequest = {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Repaired messages (messages/repair.ts), the system message first. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly sampling: Sampling;
  /** Top-level parameters that the model refuses. Default: none. */
  readonly omittedParameters?: readonly string[];
  /** Further fields in the body of chat completions requests. Fields of the request itself override them. Default: none. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  /** Only for the mode `editor_model`. */
  readonly editorModels?: EditorModels;
  /** True when the server refused messages without reasoning; then each one of a turn with tools carries some. */
  readonly requiresReasoning?: boolean;
  /** True when the server requires an assistant message between a tool result and a user message, and texts without null. */
  readonly separatesRoles?: boolean;
  /** True when the server has no system messages: the first message of the user begins with their text. */
  readonly mergesSystem?: boolean;
  /** Lifetime of Anthropic's prompt cache. Default: `5m`; writing with `1h` costs more. */
  readonly cacheTtl?: "5m" | "1h";
};

export type Usage = NonNullable<HermesModelStep["usage"]>;

export type TokenTrace = NonNullable<HermesModelStep["tokens"]>;

export type FinishReason = "stop" | "tool_calls" | "length" | "refusal";

/**
 * One event of an answer. A stream ends with exactly one `finish` or `fault`, or throws the signal's reason. Tool calls
 * may interleave; `index` identifies them, and `tool-call-end` follows as soon as a call is complete.
 */
export type ModelEvent =
  /** A sign of life without content, or with content that is held back. `streamModel` removes it. */
  | { readonly type: "alive"; readonly heldChars?: number }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "tool-call-end"; readonly index: number; readonly call: ToolCall }
  /** All text so far was reasoning; or all reasoning so far was text, and follows as text. */
  | { readonly type: "recast"; readonly as: "reasoning" | "text" }
  /** A text for people. */
  | { readonly type: "notice"; readonly severity: "info" | "warning"; readonly message: string }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
      readonly reasoningDetails?: readonly unknown[];
      /** A refusal whose text is the provider's explanation, not the model's answer. */
      readonly isSilent?: true;
      /** The text holds a call that could not be read. */
      readonly hasUnreadCall?: true;
      readonly tokens?: TokenTrace;
      /** Server that gets the answer's opaque parts back. */
      readonly origin?: string;
    }
  | { readonly type: "fault"; readonly fault: Fault };

export type Wire = {
  readonly mode: ApiMode;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};

/** Declares a wire. A script collects all exports named `wire` in a table. */
export function defineWire(wire: Wire): Wire {
  return wire;
}

export type EditorModel = HermesModelList["models"][number];

/** Access to the editor's models: over ACP, or a fake in tests. */
export type EditorModels = {
  /** Currently available models. */
  list(signal: AbortSignal): Promise<readonly EditorModel[]>;
  /** One answer, with the guarantees of `Wire.stream`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};

/** Removes the parameters that the model refuses; returns `body` itself when there are none. */
export function omitParameters<Body extends object>(body: Body, { omittedParameters = [] }: ModelRequest): Body {
  if (omittedParameters.length === 0) return body;
  const entries = Object.entries(body).filter(([name]) => !omittedParameters.includes(name));
  return Object.fromEntries(entries) as Body; // required parameters are never among them (classify.ts)
}
