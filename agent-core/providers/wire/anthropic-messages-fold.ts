/** Folds the events of Anthropic's message stream into model events. Pure, so that a recorded stream is its test. */
import * as z from "zod";
import type { Message } from "../../messages/message.ts";
import { detailsOfPlaces, type Place } from "./anthropic-messages-history.ts";
import { count, text } from "./chat-completions-chunk.ts";
import { addPieces, endCall, endCalls, hasHalfCall, noCalls, type PartialCalls } from "./partial-tool-calls.ts";
import { wholeCharacters } from "./text-sections.ts";
import type { FinishReason, ModelEvent, Usage } from "./wire.ts";

/** A content block so far. `held`: first half of a surrogate pair. */
type OpenBlock =
  | { readonly type: "text"; readonly index: number; readonly chars: number; readonly held: string }
  | {
      readonly type: "thinking";
      readonly index: number;
      readonly thinking: string;
      readonly signature: string;
      readonly held: string;
      /** False until the block has ended. */
      readonly isWhole: boolean;
    }
  | { readonly type: "redacted_thinking"; readonly index: number; readonly data: string }
  /** `input`: complete at the start, from servers without streaming. */
  | { readonly type: "tool_use"; readonly index: number; readonly input: string; readonly isStreamed: boolean };

export type FoldState = {
  readonly calls: PartialCalls;
  /** In order of their start. */
  readonly blocks: readonly OpenBlock[];
  readonly counts: Counts | undefined;
  readonly stopReason: string | undefined;
  /** The provider's reason for a refusal. */
  readonly explanation: string;
  /** True after the last event. */
  readonly isOver: boolean;
};

export type FoldStep = { readonly state: FoldState; readonly events: readonly ModelEvent[] };

/** The state before the first event. New ids never equal those of calls in `messages`. */
export function startFold(messages: readonly Message[], newId?: () => string): FoldState {
  return {
    calls: noCalls(messages, newId),
    blocks: [],
    counts: undefined,
    stopReason: undefined,
    explanation: "",
    isOver: false,
  };
}

/** Applies one event. Throws for an error or an unknown document. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const events: ModelEvent[] = [];
  const next = readEvents(raw).reduce((folded, event) => take(folded, event, events), state);
  return { state: next, events };
}

/** The last events; none when the stream stopped before its end. */
export function finishFold(state: FoldState): readonly ModelEvent[] {
  const { isOver, stopReason, counts, blocks, explanation } = state;
  if (!isOver || (stopReason === undefined && hasHalfCall(state.calls))) return [];
  const isSilent = blocks.every((block) => block.type !== "text" || block.chars === 0);
  // A thought that the limit cut off has no signature yet.
  const isCut = stopReason === "max_tokens";
  const places = blocks.flatMap(placeOf).filter(({ kind }) => !isCut || kind !== "unsigned");
  const reasoningDetails = detailsOfPlaces(places);
  return [
    ...(stopReason === "refusal" && isSilent && explanation !== ""
      ? [{ type: "text-delta", text: explanation } as const]
      : []),
    {
      type: "finish",
      reason: reasonOf(state),
      usage: counts && usageOf(counts),
      ...(stopReason === "refusal" && isSilent && { isSilent }),
      ...(reasoningDetails.length > 0 && { reasoningDetails }),
    },
  ];
}

function take(state: FoldState, event: StreamEvent, events: ModelEvent[]): FoldState {
  switch (event.type) {
    case "message_start":
      return { ...state, counts: mergeCounts(state.counts, event.message?.usage) };
    case "content_block_start":
      return begin(state, event.index, event.content_block, events);
    case "content_block_delta":
      return extend(withBlock(state, event), event.index, event.delta, events);
    case "content_block_stop":
      return close(state, event.index, events);
    case "message_delta": {
      const stopReason = event.delta.stop_reason || state.stopReason;
      const ended = stopReason === undefined ? undefined : endCalls(state.calls);
      events.push(...(ended?.events ?? []));
      return {
        ...state,
        calls: ended?.calls ?? state.calls,
        counts: mergeCounts(state.counts, event.usage),
        stopReason,
        explanation: event.delta.stop_details?.explanation ?? state.explanation,
      };
    }
    case "message_stop":
      return { ...state, isOver: true };
  }
}

/** Some gateways leave the start of a block out. */
function withBlock(
  state: FoldState,
  { index, delta }: Extract<StreamEvent, { type: "content_block_delta" }>,
): FoldState {
  const type = delta.type?.replace("_delta", "");
  const isKnown = state.blocks.some((block) => block.index === index) || (type !== "text" && type !== "thinking");
  return isKnown ? state : begin(state, index, { type }, []);
}

/** Blocks of unknown types and their deltas are ignored. */
function begin(state: FoldState, index: number, block: Block, events: ModelEvent[]): FoldState {
  switch (block.type) {
    case "text":
      return extend(added(state, { type: "text", index, chars: 0, held: "" }), index, block, events);
    case "thinking": {
      // Separates the summaries of two thoughts.
      const hasThought = state.blocks.some((other) => other.type === "thinking" && other.thinking !== "");
      if (hasThought) events.push({ type: "reasoning-delta", text: "\n\n" });
      const empty = { type: "thinking", index, thinking: "", signature: "", held: "", isWhole: false } as const;
      return extend(added(state, empty), index, block, events);
    }
    case "redacted_thinking":
      return added(state, { type: "redacted_thinking", index, data: block.data ?? "" });
    case "tool_use": {
      const called = addPieces(state.calls, [{ key: index, id: block.id ?? undefined, name: block.name ?? undefined }]);
      events.push(...called.events);
      const input = block.input && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : "";
      return added({ ...state, calls: called.calls }, { type: "tool_use", index, input, isStreamed: false });
    }
    default:
      return state;
  }
}

/** The start of a block may hold its first piece, so it is read like a delta. */
function extend(state: FoldState, index: number, delta: Block | BlockDelta, events: ModelEvent[]): FoldState {
  const block = state.blocks.findLast((candidate) => candidate.index === index);
  switch (block?.type) {
    case "text": {
      const { text, held } = wholeCharacters(block.held, delta.text ?? "");
      if (text !== "") events.push({ type: "text-delta", text });
      return replaced(state, block, { ...block, chars: block.chars + text.length, held });
    }
    case "thinking": {
      const piece = delta.thinking ?? "";
      const { text, held } = wholeCharacters(block.held, piece);
      if (text !== "") events.push({ type: "reasoning-delta", text });
      // The block keeps every unit, because it is signed.
      const signature = delta.signature || block.signature;
      return replaced(state, block, { ...block, thinking: block.thinking + piece, signature, held });
    }
    case "tool_use": {
      const json = "partial_json" in delta ? (delta.partial_json ?? "") : "";
      if (json === "") return state;
      const called = addPieces(state.calls, [{ key: index, arguments: json }]);
      events.push(...called.events);
      return replaced({ ...state, calls: called.calls }, block, { ...block, isStreamed: true });
    }
    default:
      return state;
  }
}

function close(state: FoldState, index: number, events: ModelEvent[]): FoldState {
  const block = state.blocks.findLast((candidate) => candidate.index === index);
  if (block?.type === "tool_use") {
    const whole = block.isStreamed ? [] : [{ key: index, arguments: block.input }];
    const given = addPieces(state.calls, whole);
    const ended = endCall(given.calls, index);
    events.push(...given.events, ...ended.events);
    return { ...state, calls: ended.calls };
  }
  if (block?.type === "thinking" && block.held === "") return replaced(state, block, { ...block, isWhole: true });
  if (block === undefined || !("held" in block) || block.held === "") return state;
  const lost = block.held.toWellFormed();
  events.push({ type: block.type === "text" ? "text-delta" : "reasoning-delta", text: lost });
  const chars = block.type === "text" ? { chars: block.chars + lost.length } : {};
  const isWhole = block.type === "thinking" ? { isWhole: true } : {};
  return replaced(state, block, { ...block, ...chars, ...isWhole, held: "" });
}

function added(state: FoldState, block: OpenBlock): FoldState {
  return { ...state, blocks: [...state.blocks, block] };
}

function replaced(state: FoldState, old: OpenBlock, block: OpenBlock): FoldState {
  return { ...state, blocks: state.blocks.map((candidate) => (candidate === old ? block : candidate)) };
}

/** Anthropic signs every thought. A compatible server that signs none wants it back without a signature. */
function placeOf(block: OpenBlock): readonly Place[] {
  switch (block.type) {
    case "text":
      return [{ kind: "text", chars: block.chars }];
    case "tool_use":
      return [{ kind: "call" }];
    case "thinking": {
      const { type, thinking, signature, isWhole } = block;
      if (signature !== "") return [{ kind: "thinking", block: { type, thinking, signature } }];
      return isWhole && thinking !== "" ? [{ kind: "unsigned", thinking }] : [];
    }
    case "redacted_thinking":
      return block.data === "" ? [] : [{ kind: "thinking", block: { type: block.type, data: block.data } }];
  }
}

/**
 * `pause_turn` and a full window are incomplete answers, like `max_tokens`; the next request reports the full window.
 * Compatible endpoints end calls with any reason.
 */
function reasonOf({ calls, stopReason }: FoldState): FinishReason {
  if (stopReason === "refusal") return "refusal";
  if (/^(?:max_tokens|model_context_window_exceeded|pause_turn)$/.test(stopReason ?? "")) return "length";
  return calls.calls.length > 0 ? "tool_calls" : "stop";
}

/** Both events carry running totals. Some endpoints send zeros in one of them. */
function mergeCounts(before: Counts | undefined, now: Counts | null | undefined): Counts | undefined {
  if (!now) return before;
  const maxOf = (count: (counts: Counts) => number | null | undefined): number =>
    Math.max((before && count(before)) ?? 0, count(now) ?? 0);
  return {
    input_tokens: maxOf((counts) => counts.input_tokens),
    output_tokens: maxOf((counts) => counts.output_tokens),
    cache_read_input_tokens: maxOf((counts) => counts.cache_read_input_tokens),
    cache_creation_input_tokens: maxOf((counts) => counts.cache_creation_input_tokens),
    output_tokens_details: { thinking_tokens: maxOf((counts) => counts.output_tokens_details?.thinking_tokens) },
  };
}

/** Anthropic's input does not include cached tokens. */
function usageOf(counts: Counts): Usage {
  const cached = counts.cache_read_input_tokens ?? 0;
  return {
    inputTokens: (counts.input_tokens ?? 0) + cached + (counts.cache_creation_input_tokens ?? 0),
    outputTokens: counts.output_tokens ?? 0,
    cachedInputTokens: cached,
    reasoningTokens: counts.output_tokens_details?.thinking_tokens ?? 0,
  };
}

const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens_details: z.object({ thinking_tokens: count }).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

/** One shape for all blocks, so that unknown types are ignored, not refused. */
const blockSchema = z.object({
  type: z.string(),
  text,
  thinking: text,
  signature: text,
  data: text,
  id: text,
  name: text,
  /** Empty in a stream. Some servers send an empty string. */
  input: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

const deltaSchema = z.object({ type: z.string(), text, thinking: text, signature: text, partial_json: text });

const endSchema = z.object({
  stop_reason: text,
  stop_details: z.object({ explanation: text }).nullish(),
});

const knownEvents = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message_start"), message: z.object({ usage: usageSchema }).nullish() }),
  z.object({ type: z.literal("content_block_start"), index: z.number(), content_block: blockSchema }),
  z.object({ type: z.literal("content_block_delta"), index: z.number(), delta: deltaSchema }),
  z.object({ type: z.literal("content_block_stop"), index: z.number() }),
  z.object({ type: z.literal("message_delta"), delta: endSchema, usage: usageSchema }),
  z.object({ type: z.literal("message_stop") }),
]);

/** The whole answer in one document, without streaming. */
const documentSchema = endSchema.extend({ content: z.array(blockSchema), usage: usageSchema });

const envelopeSchema = z.looseObject({
  type: z.string().nullish(),
  error: z.union([z.string().transform((message) => ({ message })), z.looseObject({ message: text })]).nullish(),
});

export type StreamEvent = z.infer<typeof knownEvents>;
export type Block = z.infer<typeof blockSchema>;
export type BlockDelta = z.infer<typeof deltaSchema>;
export type Counts = NonNullable<z.infer<typeof usageSchema>>;

const knownTypes = new Set<string>(knownEvents.options.map(({ shape }) => shape.type.value));

/**
 * The events in `raw`: one, none for an unknown type such as `ping`, or all of a whole answer. Throws for an error of
 * the server or an unknown document.
 */
export function readEvents(raw: unknown): readonly StreamEvent[] {
  const { type, error } = envelopeSchema.parse(raw);
  if (error) throw Object.assign(new Error(error.message ?? "an error without a text"), { error });
  if (!type) throw new SyntaxError("an event without a type");
  if (type === "message") return eventsOfDocument(raw);
  return knownTypes.has(type) ? [knownEvents.parse(raw)] : [];
}

function eventsOfDocument(raw: unknown): readonly StreamEvent[] {
  const { content, usage, ...delta } = documentSchema.parse(raw);
  return [
    ...content.flatMap((block, index): readonly StreamEvent[] => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta, usage },
    { type: "message_stop" },
  ];
}
