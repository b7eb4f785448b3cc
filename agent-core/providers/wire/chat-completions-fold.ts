/** Folds the chunks of OpenAI's chat completions into model events. Pure, so that a recorded stream is its test. */
import type { Message } from "../../messages/message.ts";
import { isRecord } from "../../platform/json.ts";
import { type ChunkCall, type ChunkDelta, fieldOf, readChunk } from "./chat-completions-chunk.ts";
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
  /** Words or a document that is no part of an answer; it explains a stream that ends without one. */
  readonly unread: unknown;
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
    unread: undefined,
  };
}

/** Applies the data of one event. Servers send words to keep a connection alive, and in place of an error. */
export function stepData(state: FoldState, data: string): FoldStep {
  const isWords = /^[a-z]/i.test(data) && !/^(?:true|false|null)$/.test(data);
  return isWords ? { state: { ...state, unread: data }, events: [] } : step(state, JSON.parse(data));
}

/** Applies one chunk. Throws for an error or an unknown document. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const words = onlyText(raw);
  const canSkip = state.calls.calls.length === 0 && state.heldReasoning === "";
  if (words !== undefined && canSkip) return addText(state, words);
  const parts = partsOf(raw);
  if (parts !== undefined) return parts.reduce(afterPart, { state, events: [] });
  const { delta, finishReason, usage, tokens, isKnown } = readChunk(raw);
  if (!isKnown) return { state: { ...state, unread: raw }, events: [] };
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

function afterPart({ state, events }: FoldStep, part: unknown): FoldStep {
  const next = step(state, part);
  return { state: next.state, events: [...events, ...next.events] };
}

/** A chunk of each of several choices without numbers, which are parts of one answer; undefined for one choice. */
function partsOf(raw: unknown): readonly unknown[] | undefined {
  const choices = isRecord(raw) && Array.isArray(raw["choices"]) ? raw["choices"] : [];
  if (choices.length < 2 || !isRecord(raw)) return undefined;
  const own = choices.filter((choice) => !fieldOf(choice, "index"));
  return own.map((choice, index) => ({ ...(index === own.length - 1 && raw), choices: [choice] }));
}

/**
 * Text of a chunk that carries nothing else; undefined for any other document. Nearly all chunks of a long answer are of
 * this kind, and the general parse takes longer than the rest of the fold.
 */
function onlyText(raw: unknown): string | undefined {
  if (!isRecord(raw) || raw["usage"] != null || raw["error"] != null || !Array.isArray(raw["choices"]))
    return undefined;
  const [choice, other]: readonly unknown[] = raw["choices"];
  if (!isRecord(choice) || other !== undefined || choice["finish_reason"] != null || choice["index"]) return undefined;
  if (choice["logprobs"] != null || choice["token_ids"] != null || raw["prompt_token_ids"] != null) return undefined;
  const { delta } = choice;
  if (!isRecord(delta) || typeof delta["content"] !== "string") return undefined;
  for (const field in delta) if (field !== "content" && field !== "role" && delta[field] != null) return undefined;
  return delta["content"];
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
  if (state.finishReason === undefined && state.unread !== undefined)
    throw Object.assign(new Error(""), { error: state.unread });
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
  const reasoningPiece =
    delta.reasoning || delta.reasoning_content || delta.reasoning_text || content.thinking || readableReasoning(pieces);
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
  const calls = delta?.tool_calls ?? (delta?.function_call ? [{ function: delta.function_call }] : []);
  return calls.map(({ index, id, function: called, ...other }, position) => ({
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

/** Text and reasoning of a content: a text, or parts, of which those without text, such as references, are ignored. */
function contentOf(content: unknown): { readonly text: string; readonly thinking: string } {
  if (typeof content === "string") return { text: content, thinking: "" };
  const parts = [content].flat();
  return {
    text: parts
      .map((part) => textOf(fieldOf(part, "type") === "thinking" ? "" : (fieldOf(part, "text") ?? part)))
      .join(""),
    thinking: parts
      .flatMap((part) => fieldOf(part, "thinking"))
      .map((thought) => textOf(fieldOf(thought, "text") ?? thought))
      .join(""),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function argumentsOf(value: string | Record<string, unknown> | null | undefined): string {
  if (typeof value === "string") return value;
  return value ? JSON.stringify(value) : "";
}

type End = "refusal" | "failure" | "length" | "calls" | "whole" | "unknown";

/**
 * Words of finish reasons, in small letters; the first that fits counts. Sources: OpenAI, Anthropic, Gemini, Mistral, Cohere,
 * Bedrock, watsonx, Zhipu, DeepSeek, TGI, vLLM, and gateways before them.
 */
const ENDS: readonly (readonly [RegExp, End])[] = [
  [/^(?:tool_calls?|function_call|tool_use)\b/, "calls"],
  [/^(?:stop|stop_sequence|eos|eos_token|end|end_turn|completed?|done|finish|finished)\b/, "whole"],
  [/filter|safety|toxic|guardrail|blocklist|prohibited|recitation|sensitive|spii|refus|model_armor/, "refusal"],
  [/error|fail|malformed|unexpected|missing|insufficient|abort|cancel|timeout|overload|^other\b/, "failure"],
  [/rate_limit|usage|quota|budget|credit|deadline/, "failure"],
  [/length|max_(?:\w+_)?tokens|(?:token|context|window|output|time)s?_(?:limit|exceeded)/, "length"],
];

/** Gateways write `FINISH_REASON_STOP` and `content_filter: PROHIBITED_CONTENT`. */
function endOf(reason: string): End {
  const words = reason.toLowerCase().replace(/^finish_?reason[_.]/, "");
  return ENDS.find(([pattern]) => pattern.test(words))?.[1] ?? "unknown";
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

/** The streamed content decides, since servers say "stop" after calls or invent reasons. Announced calls may be missing. */
function reasonOf({ calls, refused }: FoldState, reason: string): FinishReason {
  const end = endOf(reason);
  if (refused || end === "refusal") return "refusal";
  if (end === "length") return "length";
  return end === "calls" || calls.calls.length > 0 ? "tool_calls" : "stop";
}

function joinTokens(before: TokenTrace = {}, after: TokenTrace): TokenTrace {
  const joined = (name: "completionIds" | "logprobs") =>
    (before[name] ?? after[name]) && { [name]: [...(before[name] ?? []), ...(after[name] ?? [])] };
  return { ...before, ...after, ...joined("completionIds"), ...joined("logprobs") };
}
