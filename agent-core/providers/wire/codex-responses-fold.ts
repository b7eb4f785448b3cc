/** Folds the events of OpenAI's Responses into model events. Pure, so that a recorded stream is its test. */
import * as z from "zod";
import type { Message } from "../../messages/message.ts";
import { count, text } from "./chat-completions-chunk.ts";
import { layoutOf } from "./codex-responses-request.ts";
import { addPieces, type CallProgress, endCall, endCalls, noCalls, type PartialCalls } from "./partial-tool-calls.ts";
import { addToSection, endSection, noSections, type SectionStep, type Sections } from "./text-sections.ts";
import type { FinishReason, ModelEvent, Usage } from "./wire.ts";

export type FoldState = {
  readonly calls: PartialCalls;
  /** Each message is a section. */
  readonly text: Sections;
  /** Each part of a summary is a section. */
  readonly reasoning: Sections;
  /** Indexes of items with shown content. */
  readonly shown: ReadonlySet<number>;
  /** The parts of complete items to keep, by index. */
  readonly places: ReadonlyMap<number, unknown>;
  readonly usage: Usage | undefined;
  /** Undefined before the end of the response. */
  readonly end: FinishReason | undefined;
  readonly refused: boolean;
};

export type FoldStep = { readonly state: FoldState; readonly events: readonly ModelEvent[] };

/** The state before the first event. New ids never equal those of calls in `messages`. */
export function startFold(messages: readonly Message[], newId?: () => string): FoldState {
  return {
    calls: noCalls(messages, newId),
    text: noSections,
    reasoning: noSections,
    shown: new Set(),
    places: new Map(),
    usage: undefined,
    end: undefined,
    refused: false,
  };
}

/** Applies one event. Throws for an error or an unknown document; ignores events after the end. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const event = readEvent(raw);
  if (event === undefined || state.end !== undefined) return { state, events: [] };
  switch (event.type) {
    case "response.output_text.delta":
      return addText(state, event.output_index, event.delta);
    case "response.refusal.delta":
      return addText({ ...state, refused: true }, event.output_index, event.delta);
    case "response.reasoning_summary_text.delta":
      return addReasoning(state, event.output_index, event.summary_index ?? 0, event.delta);
    case "response.reasoning_text.delta":
      return addReasoning(state, event.output_index, event.content_index ?? 0, event.delta);
    case "response.output_item.added":
      return event.item?.type === "function_call" ? beginCall(state, event.output_index, event.item) : same(state);
    case "response.function_call_arguments.delta":
      return withCalls(state, addPieces(state.calls, [{ key: event.output_index, arguments: event.delta }]));
    case "response.function_call_arguments.done":
      return finishCall(state, event.output_index, event.arguments);
    case "response.output_item.done":
      return endItem(state, event.output_index, event.item);
    case "response.completed":
    case "response.incomplete":
      return endResponse(state, event);
    case "response.failed":
      throw failure(event.response.error);
    case "error":
      throw failure(event.error ?? event);
  }
}

/** The last events; none when the stream stopped before the end of the response. */
export function finishFold(state: FoldState): readonly ModelEvent[] {
  const { end, usage, places } = state;
  if (end === undefined) return [];
  const inOrder = [...places].sort(([first], [second]) => first - second).map(([, place]) => place);
  const details = layoutOf(inOrder);
  return [{ type: "finish", reason: end, usage, ...(details && { reasoningDetails: details }) }];
}

function same(state: FoldState): FoldStep {
  return { state, events: [] };
}

function sequence(start: FoldState, steps: readonly ((state: FoldState) => FoldStep)[]): FoldStep {
  return steps.reduce((before, next) => {
    const { state, events } = next(before.state);
    return { state, events: [...before.events, ...events] };
  }, same(start));
}

function addText(state: FoldState, index: number, delta: string): FoldStep {
  return withText(show(state, index), addToSection(state.text, String(index), delta));
}

function withText(state: FoldState, { sections, text }: SectionStep): FoldStep {
  return { state: { ...state, text: sections }, events: text === "" ? [] : [{ type: "text-delta", text }] };
}

function addReasoning(state: FoldState, index: number, part: number, delta: string): FoldStep {
  return withReasoning(show(state, index), addToSection(state.reasoning, `${index}/${part}`, delta));
}

function withReasoning(state: FoldState, { sections, text }: SectionStep): FoldStep {
  return { state: { ...state, reasoning: sections }, events: text === "" ? [] : [{ type: "reasoning-delta", text }] };
}

function withCalls(state: FoldState, { calls, events }: CallProgress): FoldStep {
  return { state: { ...state, calls }, events };
}

function show(state: FoldState, index: number): FoldState {
  return state.shown.has(index) ? state : { ...state, shown: new Set([...state.shown, index]) };
}

function beginCall(state: FoldState, index: number, item: Extract<OutputItem, { type: "function_call" }>): FoldStep {
  const known = callAt(state, index);
  if (known !== undefined && known.phase !== "unnamed") return same(state);
  const piece = { key: index, id: item.call_id || undefined, name: item.name || undefined };
  return withCalls(show(state, index), addPieces(state.calls, [piece]));
}

/** Adds the part of `json`, the complete arguments, that was not streamed. */
function finishCall(state: FoldState, index: number, json: string): FoldStep {
  const call = callAt(state, index);
  if (call === undefined || call.phase === "ended") return same(state);
  const rest = json.startsWith(call.arguments) ? json.slice(call.arguments.length) : "";
  return sequence(state, [
    (before) =>
      rest === "" ? same(before) : withCalls(before, addPieces(before.calls, [{ key: index, arguments: rest }])),
    (before) => withCalls(before, endCall(before.calls, index)),
  ]);
}

function callAt({ calls }: FoldState, index: number): PartialCalls["calls"][number] | undefined {
  return calls.calls.findLast(({ key }) => key === index);
}

/** A complete item. Without streaming it holds everything. */
function endItem(state: FoldState, index: number, item: OutputItem | undefined): FoldStep {
  const wasShown = state.shown.has(index);
  switch (item?.type) {
    case undefined:
      return same(state);
    case "message":
      return sequence(state, [
        (before) => (wasShown ? same(before) : showMessage(before, index, item)),
        (before) => withText(before, endSection(before.text)),
        (before) => same(keep(before, index, messagePlace(before, index, item))),
      ]);
    case "function_call":
      return sequence(state, [
        (before) => beginCall(before, index, item),
        (before) => finishCall(before, index, item.arguments ?? ""),
        (before) => {
          const place = { type: "function_call", ...(item.id && { id: item.id }), call_id: callAt(before, index)?.id };
          return same(keep(before, index, place));
        },
      ]);
    case "reasoning":
      return sequence(state, [
        (before) => (wasShown ? same(before) : showReasoning(before, index, item)),
        (before) => withReasoning(before, endSection(before.reasoning)),
        (before) => same(keep(before, index, item)),
      ]);
  }
}

function showMessage(state: FoldState, index: number, { content }: Extract<OutputItem, { type: "message" }>): FoldStep {
  const parts = content ?? [];
  const refused = state.refused || parts.some(({ type }) => type === "refusal");
  return addText({ ...state, refused }, index, parts.map(({ text, refusal }) => text ?? refusal ?? "").join(""));
}

function showReasoning(state: FoldState, index: number, item: Extract<OutputItem, { type: "reasoning" }>): FoldStep {
  const parts = item.summary?.length ? item.summary : (item.content ?? []);
  return sequence(
    state,
    parts.map(
      ({ text }, part) =>
        (before) =>
          addReasoning(before, index, part, text ?? ""),
    ),
  );
}

function keep(state: FoldState, index: number, place: unknown): FoldState {
  return { ...state, places: new Map([...state.places, [index, place]]) };
}

function messagePlace({ text }: FoldState, index: number, item: Extract<OutputItem, { type: "message" }>) {
  return {
    type: "message",
    ...(item.id && { id: item.id }),
    ...(item.phase && { phase: item.phase }),
    chars: text.key === String(index) ? text.chars : 0,
  };
}

function endResponse(state: FoldState, event: Extract<ResponsesEvent, { response: ResponseEnd }>): FoldStep {
  const { response } = event;
  const isWhole = state.shown.size === 0 && state.places.size === 0;
  return sequence(state, [
    // The server streamed nothing but the end.
    ...(isWhole ? (response.output ?? []) : []).map(
      (item, index) => (before: FoldState) => endItem(before, index, item),
    ),
    (before) => withText(before, endSection(before.text)),
    (before) => withReasoning(before, endSection(before.reasoning)),
    (before) => withCalls(before, endCalls(before.calls)),
    (before) => same({ ...before, usage: usageOf(response), end: reasonOf(before, event) }),
  ]);
}

function reasonOf(
  { refused, calls }: FoldState,
  event: Extract<ResponsesEvent, { response: ResponseEnd }>,
): FinishReason {
  if (refused || event.response.incomplete_details?.reason === "content_filter") return "refusal";
  if (event.type === "response.incomplete") return "length";
  return calls.calls.length > 0 ? "tool_calls" : "stop";
}

/** Keeps the provider's code, which determines the fault. */
function failure(error: ResponseEnd["error"]): Error {
  const { code, message } = error ?? {};
  return Object.assign(new Error(message || "it failed without saying why"), {
    error: { ...error, code, message },
  });
}

const output_index = z.number().int();

const messageSchema = z.object({
  type: z.literal("message"),
  id: text,
  /** `commentary` or `final_answer`; the API expects it in the next request. */
  phase: text,
  content: z.array(z.object({ type: z.string(), text, refusal: text })).nullish(),
});

const functionCallSchema = z.object({
  type: z.literal("function_call"),
  id: text,
  call_id: text,
  name: text,
  arguments: text,
});

/** Loose, because it returns unchanged. */
const reasoningSchema = z.looseObject({
  type: z.literal("reasoning"),
  summary: z.array(z.looseObject({ text })).nullish(),
  content: z.array(z.looseObject({ text })).nullish(),
});

const itemSchemas = [messageSchema, functionCallSchema, reasoningSchema] as const;
const itemSchema = z.discriminatedUnion("type", itemSchemas);

export type OutputItem = z.infer<typeof itemSchema>;

const typedSchema = z.looseObject({ type: z.string() });

/** Items of the provider's own tools become undefined. */
const anyItemSchema = z.unknown().transform((raw): OutputItem | undefined => {
  const { type } = typedSchema.parse(raw);
  return itemSchemas.some(({ shape }) => shape.type.value === type) ? itemSchema.parse(raw) : undefined;
});

const errorSchema = z.looseObject({ code: z.union([z.string(), z.number()]).nullish(), message: text });

const responseSchema = z.object({
  output: z.array(anyItemSchema).nullish(),
  incomplete_details: z.object({ reason: text }).nullish(),
  error: errorSchema.nullish(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      input_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
      output_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

export type ResponseEnd = z.infer<typeof responseSchema>;

const delta = z.string();

const eventSchemas = [
  z.object({ type: z.literal("response.output_item.added"), output_index, item: anyItemSchema }),
  z.object({ type: z.literal("response.output_item.done"), output_index, item: anyItemSchema }),
  z.object({ type: z.literal("response.output_text.delta"), output_index, delta }),
  z.object({ type: z.literal("response.refusal.delta"), output_index, delta }),
  z.object({
    type: z.literal("response.reasoning_summary_text.delta"),
    output_index,
    summary_index: count,
    delta,
  }),
  /** Full reasoning of open models at other servers. */
  z.object({ type: z.literal("response.reasoning_text.delta"), output_index, content_index: count, delta }),
  z.object({ type: z.literal("response.function_call_arguments.delta"), output_index, delta }),
  z.object({ type: z.literal("response.function_call_arguments.done"), output_index, arguments: z.string() }),
  z.object({ type: z.literal("response.completed"), response: responseSchema }),
  z.object({ type: z.literal("response.incomplete"), response: responseSchema }),
  z.object({ type: z.literal("response.failed"), response: responseSchema }),
  /** Both forms occur: flat as documented, or around an error object. */
  z.object({ type: z.literal("error"), code: errorSchema.shape.code, message: text, error: errorSchema.nullish() }),
] as const;
const eventSchema = z.discriminatedUnion("type", eventSchemas);

export type ResponsesEvent = z.infer<typeof eventSchema>;

const knownTypes: ReadonlySet<string> = new Set(eventSchemas.map(({ shape }) => shape.type.value));

const envelopeSchema = z.looseObject({ type: text, object: text, status: text, error: z.unknown().optional() });

/** Undefined for events without use here. Throws for an unknown document. */
export function readEvent(raw: unknown): ResponsesEvent | undefined {
  const event = withType(envelopeSchema.parse(raw));
  return knownTypes.has(event.type) ? eventSchema.parse(event) : undefined;
}

/** Adds a type to documents and to errors of proxies. */
function withType(envelope: z.infer<typeof envelopeSchema>): z.infer<typeof typedSchema> {
  const { type, object, status, error } = envelope;
  if (typeof type === "string") return { ...envelope, type };
  if (object === "response") return { type: `response.${status ?? "completed"}`, response: envelope };
  if (error) return { type: "error", error: typeof error === "string" ? { message: error } : error };
  throw new SyntaxError("an event without a type");
}

/** OpenAI's counts are totals: the input includes cached tokens, the output includes reasoning. */
export function usageOf({ usage }: ResponseEnd): Usage | undefined {
  if (!usage) return undefined;
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
