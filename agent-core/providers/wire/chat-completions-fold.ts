/** Folds the chunks of OpenAI's chat completions into model events. Pure, so that a recorded stream is its test. */
import * as z from "zod";
import type { Message } from "../../messages/message.ts";
import { addPieces, type CallPiece, endCalls, hasHalfCall, noCalls, type PartialCalls } from "./partial-tool-calls.ts";
import {
  addPlaces,
  detailsOfPlaces,
  fieldsOfPlaces,
  joinReasoningDetails,
  noPlaces,
  type ReasoningPlaces,
  readableReasoning,
} from "./reasoning-places.ts";
import { wholeCharacters } from "./text-sections.ts";
import type { FinishReason, ModelEvent, TokenTrace, Usage } from "./wire.ts";

export type FoldState = {
  readonly calls: PartialCalls;
  readonly details: readonly unknown[];
  /** Places of reasoning and of opaque fields in the answer. */
  readonly places: ReasoningPlaces;
  /** First half of a surrogate pair. */
  readonly heldText: string;
  readonly heldReasoning: string;
  readonly usage: Usage | undefined;
  readonly tokens: TokenTrace | undefined;
  /** Reason of the end; undefined before it. */
  readonly finishReason: string | undefined;
  readonly refused: boolean;
};

export type FoldStep = { readonly state: FoldState; readonly events: readonly ModelEvent[] };

/** The state before the first chunk. New ids never equal those of calls in `messages`. */
export function startFold(messages: readonly Message[], newId?: () => string): FoldState {
  return {
    calls: noCalls(messages, newId),
    details: [],
    places: noPlaces,
    heldText: "",
    heldReasoning: "",
    usage: undefined,
    tokens: undefined,
    finishReason: undefined,
    refused: false,
  };
}

/** Applies one chunk. Throws for an error or an unknown document. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const words = onlyText(raw);
  const canSkip = state.calls.calls.length === 0 && state.heldReasoning === "";
  if (words !== undefined && canSkip) return addText(state, words);
  const { delta, finishReason, usage, tokens } = readChunk(raw);
  const events: ModelEvent[] = [];
  const called = addPieces(state.calls, piecesOf(delta));
  const next: FoldState = {
    ...state,
    ...(delta && readDelta(state, delta, events)),
    calls: called.calls,
    usage: usage ?? state.usage,
    tokens: tokens === undefined ? state.tokens : joinTokens(state.tokens, tokens),
    finishReason: finishReason ?? state.finishReason,
  };
  events.push(...called.events);
  if (finishReason === undefined) return { state: next, events };
  if (endOf(finishReason) === "failure") throw failureOf(finishReason);
  const ended = endCalls(next.calls);
  return { state: { ...next, calls: ended.calls }, events: [...events, ...ended.events] };
}

/**
 * Text of a chunk that carries nothing else; undefined for any other document. Nearly all chunks of a long answer are of
 * this kind, and the general parse takes longer than the rest of the fold.
 */
function onlyText(raw: unknown): string | undefined {
  if (!isRecord(raw) || raw["usage"] != null || raw["error"] != null || !Array.isArray(raw["choices"]))
    return undefined;
  const [choice, other]: readonly unknown[] = raw["choices"];
  if (!isRecord(choice) || other !== undefined || choice["finish_reason"] != null) return undefined;
  if (choice["logprobs"] != null || choice["token_ids"] != null || raw["prompt_token_ids"] != null) return undefined;
  const { delta } = choice;
  if (!isRecord(delta) || typeof delta["content"] !== "string") return undefined;
  for (const field in delta) if (field !== "content" && field !== "role" && delta[field] != null) return undefined;
  return delta["content"];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function addText(state: FoldState, piece: string): FoldStep {
  const { text, held } = wholeCharacters(state.heldText, piece);
  return {
    state: held === state.heldText ? state : { ...state, heldText: held },
    events: text === "" ? [] : [{ type: "text-delta", text }],
  };
}

/** `[DONE]` ends the answer of servers that give no reason, unless a call is incomplete. */
export function streamDone(state: FoldState): FoldStep {
  if (state.finishReason !== undefined || hasHalfCall(state.calls)) return { state, events: [] };
  const { calls, events } = endCalls(state.calls);
  return { state: { ...state, calls, finishReason: "stop" }, events };
}

/** The last events; none when the stream stopped without a reason. */
export function finishFold(state: FoldState): readonly ModelEvent[] {
  if (state.finishReason === undefined) return [];
  const reasoning = state.heldReasoning.toWellFormed();
  const text = state.heldText.toWellFormed();
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning-delta", text: reasoning } as const]),
    ...(text === "" ? [] : [{ type: "text-delta", text } as const]),
    ...unknownEnd(state, state.finishReason),
    {
      type: "finish",
      reason: reasonOf(state, state.finishReason),
      usage: state.usage,
      ...(state.tokens && { tokens: state.tokens }),
      ...reasoningDetailsOf(state),
    },
  ];
}

/** OpenRouter's own parts hold the reasoning; without them its places do. */
function reasoningDetailsOf({ details, places }: FoldState): { reasoningDetails?: readonly unknown[] } {
  const opaque = [...(details.length > 0 ? details : detailsOfPlaces(places)), ...fieldsOfPlaces(places)];
  return opaque.length > 0 ? { reasoningDetails: opaque } : {};
}

/** Adds the delta's text to `events` and returns the changed part of the state. */
function readDelta(state: FoldState, delta: ChunkDelta, events: ModelEvent[]): Partial<FoldState> {
  const pieces = delta.reasoning_details ?? [];
  const content = contentOf(delta.content);
  const reasoningPiece = delta.reasoning || delta.reasoning_content || content.thinking || readableReasoning(pieces);
  const reasoning = wholeCharacters(state.heldReasoning, reasoningPiece);
  const text = wholeCharacters(state.heldText, content.text + (delta.refusal ?? ""));
  if (reasoning.text !== "") events.push({ type: "reasoning-delta", text: reasoning.text });
  if (text.text !== "") events.push({ type: "text-delta", text: text.text });
  return {
    heldReasoning: reasoning.held,
    heldText: text.held,
    refused: state.refused || Boolean(delta.refusal),
    places: addPlaces(state.places, delta),
    ...(pieces.length > 0 && { details: joinReasoningDetails(state.details, pieces) }),
  };
}

function piecesOf(delta: ChunkDelta | undefined): readonly CallPiece[] {
  return (delta?.tool_calls ?? []).map(({ index, id, function: called, ...other }, position) => ({
    key: index ?? position,
    id: id || undefined,
    name: called?.name || undefined,
    arguments: argumentsOf(called?.arguments),
    extra: extraOf(other),
  }));
}

/** Fields of a call that carry a signature: Google's own, and LiteLLM's. Undefined without any. */
function extraOf(call: Pick<ChunkCall, "extra_content" | "provider_specific_fields">): CallPiece["extra"] {
  const given = Object.entries(call).filter(([, value]) => value !== null && value !== undefined);
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

/** Text and reasoning of a content that may be a list of parts. Parts without text, such as references, are ignored. */
function contentOf(content: ChunkDelta["content"]): { readonly text: string; readonly thinking: string } {
  if (!Array.isArray(content)) return { text: content ?? "", thinking: "" };
  const textOf = (parts: readonly { text?: string | null | undefined }[]): string =>
    parts.map((part) => part.text ?? "").join("");
  return {
    text: textOf(content.filter(({ type }) => type !== "thinking")),
    thinking: content
      .map(({ thinking }) => (typeof thinking === "string" ? thinking : textOf(thinking ?? [])))
      .join(""),
  };
}

function argumentsOf(value: string | Record<string, unknown> | null | undefined): string {
  if (typeof value === "string") return value;
  return value ? JSON.stringify(value) : "";
}

/**
 * Finish reasons, in small letters. Sources: OpenAI, Mistral (model_length), TGI (eos_token), vLLM (abort), DeepSeek
 * (insufficient_system_resource), Zhipu (sensitive, network_error), OpenRouter (error), and Gemini behind gateways.
 */
const ENDS = {
  whole: [
    "stop",
    "tool_calls",
    "function_call",
    "eos",
    "eos_token",
    "end_turn",
    "stop_sequence",
    "tool_use",
    "complete",
  ],
  length: ["length", "max_tokens", "model_length", "max_length", "max_output_tokens", "model_context_window_exceeded"],
  refusal: [
    "content_filter",
    "sensitive",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "refusal",
  ],
  failure: ["error", "server_error", "insufficient_system_resource", "network_error", "malformed_function_call"].concat(
    ["unexpected_tool_call", "other", "abort", "aborted", "cancelled", "timeout", "overloaded"],
  ),
};

type End = keyof typeof ENDS | "unknown";

/** Gateways write `FINISH_REASON_STOP` and `content_filter: PROHIBITED_CONTENT`. */
function endOf(reason: string): End {
  const word = /^(?:finish_?reason[_.])?(\w+)/.exec(reason.toLowerCase())?.[1] ?? "";
  const known = (["whole", "length", "refusal", "failure"] as const).find((end) => ENDS[end].includes(word));
  return known ?? "unknown";
}

function failureOf(reason: string): Error {
  if (reason === "insufficient_system_resource") return new Error("overloaded: it ran out of resources");
  const message = `it stopped in the middle of the answer (${reason})`;
  return reason === "error"
    ? new Error(`server_error: ${message}`)
    : Object.assign(new Error(message), { error: { message } });
}

/** Calls show that the answer is whole. */
function unknownEnd({ calls, refused }: FoldState, reason: string): readonly ModelEvent[] {
  if (refused || calls.calls.length > 0 || endOf(reason) !== "unknown") return [];
  const message = `The server ended the answer for a reason that Hermes does not know (${reason.slice(0, 40)}). Send "continue" if it is incomplete.`;
  return [{ type: "notice", severity: "info", message }];
}

/** The streamed content decides, since servers say "stop" after calls or invent reasons. */
function reasonOf({ calls, refused }: FoldState, reason: string): FinishReason {
  const end = endOf(reason);
  if (refused || end === "refusal") return "refusal";
  if (end === "length") return "length";
  return calls.calls.length > 0 ? "tool_calls" : "stop";
}

const text = z.string().nullish();
/** Some servers send numbers as text. A count that cannot be read never costs the answer. */
const count = z
  .union([z.number(), z.string().regex(/^\d+$/).transform(Number)])
  .nullish()
  .catch(undefined);

/** Text that is not part of the answer. A value of another type is ignored. */
const optional = text.catch(undefined);
const textPart = z.looseObject({ text });

/** Magistral: parts `text` and `thinking`; a thinking part holds text parts. */
const contentPart = z.looseObject({
  type: z.string(),
  text,
  thinking: z.union([z.string(), z.array(textPart)]).nullish(),
});

const deltaSchema = z.object({
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  refusal: text,
  /** OpenRouter, Ollama, Groq. */
  reasoning: optional,
  /** DeepSeek, llama.cpp, vLLM. */
  reasoning_content: optional,
  reasoning_details: z.array(z.unknown()).nullish().catch(undefined),
  /** LiteLLM in front of Anthropic. */
  thinking_blocks: z.unknown().optional(),
  /** Gemini: the signature of a text. */
  extra_content: z.unknown().optional(),
  tool_calls: z
    .array(
      z.object({
        index: count,
        id: text,
        function: z
          .object({
            name: text,
            /** Some local servers send the object itself. */
            arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
          })
          .nullish(),
        extra_content: z.unknown().optional(),
        provider_specific_fields: z.unknown().optional(),
      }),
    )
    .nullish(),
});

/** Names of vLLM. */
const ids = z.array(z.number().int()).nullish().catch(undefined);
const tokenFields = { token_ids: ids, prompt_token_ids: ids };

/** Only the fields that are read, with loose types: servers differ in everything else. */
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: deltaSchema.nullish(),
        /** Replaces `delta` without streaming. */
        message: deltaSchema.nullish(),
        finish_reason: text,
        ...tokenFields,
        logprobs: z
          .object({ content: z.array(z.object({ logprob: z.number() })).nullish() })
          .nullish()
          .catch(undefined),
      }),
    )
    .nullish(),
  prompt_token_ids: ids,
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
      /** DeepSeek. */
      prompt_cache_hit_tokens: count,
      /** Moonshot. */
      cached_tokens: count,
    })
    .nullish()
    .catch(undefined),
});

type Chunk = z.infer<typeof chunkSchema>;
export type ChunkDelta = z.infer<typeof deltaSchema>;
type ChunkCall = NonNullable<ChunkDelta["tool_calls"]>[number];

/** Contents of a chunk. `delta` belongs to the first choice. */
export type ReadChunk = {
  readonly delta: ChunkDelta | undefined;
  readonly finishReason: string | undefined;
  readonly usage: Usage | undefined;
  readonly tokens: TokenTrace | undefined;
};

/** Throws for an error of the server or an unknown document. */
export function readChunk(raw: unknown): ReadChunk {
  const error = errorIn(raw);
  if (error) throw Object.assign(new Error(String(fieldOf(error, "message") ?? "")), { error });
  const chunk = chunkSchema.parse(raw);
  const { choices, usage } = chunk;
  const choice = choices?.[0];
  return {
    delta: choice?.delta ?? choice?.message ?? undefined,
    finishReason: choice?.finish_reason || undefined,
    usage: usage ? usageOf(usage) : undefined,
    tokens: tokensOf(chunk),
  };
}

function tokensOf({ choices, prompt_token_ids: prompt }: Chunk): TokenTrace | undefined {
  const { token_ids: completionIds, prompt_token_ids: own, logprobs } = choices?.[0] ?? {};
  const probabilities = logprobs?.content?.map(({ logprob }) => logprob);
  const promptIds = own ?? prompt;
  const trace: TokenTrace = {
    ...(promptIds && { promptIds }),
    ...(completionIds && { completionIds }),
    ...(probabilities && { logprobs: probabilities }),
  };
  return Object.keys(trace).length > 0 ? trace : undefined;
}

function joinTokens(before: TokenTrace = {}, after: TokenTrace): TokenTrace {
  const joined = (name: "completionIds" | "logprobs") =>
    (before[name] ?? after[name]) && { [name]: [...(before[name] ?? []), ...(after[name] ?? [])] };
  return { ...before, ...after, ...joined("completionIds"), ...joined("logprobs") };
}

/** Error in a document: `error`, a list (Gemini), or only a text (FastAPI). error-details.ts reads all of them. */
function errorIn(raw: unknown): unknown {
  if (Array.isArray(raw)) return fieldOf(raw[0], "error");
  const isOnlyText = typeof fieldOf(raw, "message") === "string" || fieldOf(raw, "detail") !== undefined;
  return fieldOf(raw, "error") ?? (isOnlyText && fieldOf(raw, "choices") === undefined ? raw : undefined);
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** OpenAI's counts are totals: the prompt includes cached tokens, the completion includes reasoning. */
function usageOf(usage: NonNullable<Chunk["usage"]>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedInputTokens: cached ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
