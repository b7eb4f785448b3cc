/** From the events of Anthropic's message stream to model events: a pure fold, so that a recorded stream is its test. */
import type { Message } from "../../messages/message.ts";
import { type Block, type BlockDelta, type Counts, readEvents, type StreamEvent } from "./anthropic-messages-event.ts";
import { detailsOfPlaces, type Place } from "./anthropic-thinking-blocks.ts";
import { addPieces, endCall, endCalls, hasHalfCall, noCalls, type PartialCalls } from "./partial-tool-calls.ts";
import { wholeCharacters } from "./whole-characters.ts";
import type { FinishReason, ModelEvent, Usage } from "./wire.ts";

/** A content block so far. `held` is half a character whose other half has not come yet. */
type OpenBlock =
  | { readonly type: "text"; readonly index: number; readonly chars: number; readonly held: string }
  | {
      readonly type: "thinking";
      readonly index: number;
      readonly thinking: string;
      readonly signature: string;
      readonly held: string;
    }
  | { readonly type: "redacted_thinking"; readonly index: number; readonly data: string }
  /** `input`: given whole with the start, by servers that do not stream it. */
  | { readonly type: "tool_use"; readonly index: number; readonly input: string; readonly isStreamed: boolean };

export type FoldState = {
  readonly calls: PartialCalls;
  /** In the order in which they began. */
  readonly blocks: readonly OpenBlock[];
  readonly counts: Counts | undefined;
  readonly stopReason: string | undefined;
  /** Why the provider refused, in its words. */
  readonly explanation: string;
  /** True after the stream's last event. */
  readonly isOver: boolean;
};

export type FoldStep = { readonly state: FoldState; readonly events: readonly ModelEvent[] };

/** The state before the first event. `messages` are the request's: ids of its calls are not used twice. */
export function startFold(messages: readonly Message[], newId?: () => string): FoldState {
  const takenIds = messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [],
  );
  return {
    calls: noCalls(takenIds, newId),
    blocks: [],
    counts: undefined,
    stopReason: undefined,
    explanation: "",
    isOver: false,
  };
}

/** Takes one event. Throws when it is an error, or no event at all. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const events: ModelEvent[] = [];
  const next = readEvents(raw).reduce((folded, event) => take(folded, event, events), state);
  return { state: next, events };
}

/** The last events; none when the stream stopped before its own last event, which is not an end. */
export function finishFold(state: FoldState): readonly ModelEvent[] {
  const { isOver, stopReason, counts, blocks, explanation } = state;
  if (!isOver || (stopReason === undefined && hasHalfCall(state.calls))) return [];
  const isSilent = blocks.every((block) => block.type !== "text" || block.chars === 0);
  const reasoningDetails = detailsOfPlaces(blocks.flatMap(placeOf));
  return [
    ...(stopReason === "refusal" && isSilent && explanation !== ""
      ? [{ type: "text-delta", text: explanation } as const]
      : []),
    {
      type: "finish",
      reason: reasonOf(state),
      usage: counts && usageOf(counts),
      ...(reasoningDetails.length > 0 && { reasoningDetails }),
    },
  ];
}

/** Adds what the event means to `events`. */
function take(state: FoldState, event: StreamEvent, events: ModelEvent[]): FoldState {
  switch (event.type) {
    case "message_start":
      return { ...state, counts: mergeCounts(state.counts, event.message?.usage) };
    case "content_block_start":
      return begin(state, event.index, event.content_block, events);
    case "content_block_delta":
      return extend(state, event.index, event.delta, events);
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

/** Blocks of types that are not known stay out of the state, and their deltas with them. */
function begin(state: FoldState, index: number, block: Block, events: ModelEvent[]): FoldState {
  switch (block.type) {
    case "text":
      return extend(added(state, { type: "text", index, chars: 0, held: "" }), index, block, events);
    case "thinking": {
      // Summaries of separate thoughts would run into each other.
      const hasThought = state.blocks.some((other) => other.type === "thinking" && other.thinking !== "");
      if (hasThought) events.push({ type: "reasoning-delta", text: "\n\n" });
      const empty = { type: "thinking", index, thinking: "", signature: "", held: "" } as const;
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

/** A block's start may hold its first piece, so it is read like a delta. */
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
      // The block itself keeps every unit as it came: it is signed.
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
  if (block === undefined || !("held" in block) || block.held === "") return state;
  const lost = block.held.toWellFormed();
  events.push({ type: block.type === "text" ? "text-delta" : "reasoning-delta", text: lost });
  const chars = block.type === "text" ? { chars: block.chars + lost.length } : {};
  return replaced(state, block, { ...block, ...chars, held: "" });
}

function added(state: FoldState, block: OpenBlock): FoldState {
  return { ...state, blocks: [...state.blocks, block] };
}

function replaced(state: FoldState, old: OpenBlock, block: OpenBlock): FoldState {
  return { ...state, blocks: state.blocks.map((candidate) => (candidate === old ? block : candidate)) };
}

/** A thought that was cut before its signature is worth nothing to the API. */
function placeOf(block: OpenBlock): readonly Place[] {
  switch (block.type) {
    case "text":
      return [{ kind: "text", chars: block.chars }];
    case "tool_use":
      return [{ kind: "call" }];
    case "thinking": {
      const { type, thinking, signature } = block;
      return signature === "" ? [] : [{ kind: "thinking", block: { type, thinking, signature } }];
    }
    case "redacted_thinking":
      return block.data === "" ? [] : [{ kind: "thinking", block: { type: block.type, data: block.data } }];
  }
}

/**
 * `pause_turn` and a full window are answers that are not over, like `max_tokens`: whoever asked may go on, and learns
 * by the next request that the window is full. Endpoints that are only compatible end calls with any reason.
 */
function reasonOf({ calls, stopReason }: FoldState): FinishReason {
  switch (stopReason) {
    case "refusal":
      return "refusal";
    case "max_tokens":
    case "model_context_window_exceeded":
    case "pause_turn":
      return "length";
    default:
      return calls.calls.length > 0 ? "tool_calls" : "stop";
  }
}

/** The counts are running totals, in both events that have them; some endpoints give zeros in one of the two. */
function mergeCounts(before: Counts | undefined, now: Counts | null | undefined): Counts | undefined {
  if (!now) return before;
  const most = (count: (counts: Counts) => number | null | undefined): number =>
    Math.max((before && count(before)) ?? 0, count(now) ?? 0);
  return {
    input_tokens: most((counts) => counts.input_tokens),
    output_tokens: most((counts) => counts.output_tokens),
    cache_read_input_tokens: most((counts) => counts.cache_read_input_tokens),
    cache_creation_input_tokens: most((counts) => counts.cache_creation_input_tokens),
    output_tokens_details: { thinking_tokens: most((counts) => counts.output_tokens_details?.thinking_tokens) },
  };
}

/** Anthropic counts cached tokens beside the input, not within it. */
function usageOf(counts: Counts): Usage {
  const cached = counts.cache_read_input_tokens ?? 0;
  return {
    inputTokens: (counts.input_tokens ?? 0) + cached + (counts.cache_creation_input_tokens ?? 0),
    outputTokens: counts.output_tokens ?? 0,
    cachedInputTokens: cached,
    reasoningTokens: counts.output_tokens_details?.thinking_tokens ?? 0,
  };
}
