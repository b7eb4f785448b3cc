/** From the chunks of OpenAI's chat completions to model events: a pure fold, so that a recorded stream is its test. */
import type { Message } from "../../messages/message.ts";
import { type ChunkDelta, readChunk } from "./chat-completions-chunk.ts";
import { addPieces, type CallPiece, endCalls, hasHalfCall, noCalls, type PartialCalls } from "./partial-tool-calls.ts";
import { joinReasoningDetails, readableReasoning } from "./reasoning-details.ts";
import { wholeCharacters } from "./whole-characters.ts";
import type { FinishReason, ModelEvent, Usage } from "./wire.ts";

export type FoldState = {
  readonly calls: PartialCalls;
  readonly details: readonly unknown[];
  /** Halves of characters whose other half has not come yet. */
  readonly heldText: string;
  readonly heldReasoning: string;
  readonly usage: Usage | undefined;
  /** Why the server says it ended; undefined until it does. */
  readonly finishReason: string | undefined;
  readonly refused: boolean;
};

export type FoldStep = { readonly state: FoldState; readonly events: readonly ModelEvent[] };

/** The state before the first chunk. `messages` are the request's: ids of its calls are not used twice. */
export function startFold(messages: readonly Message[], newId?: () => string): FoldState {
  const takenIds = messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [],
  );
  return {
    calls: noCalls(takenIds, newId),
    details: [],
    heldText: "",
    heldReasoning: "",
    usage: undefined,
    finishReason: undefined,
    refused: false,
  };
}

/** Takes one chunk. Throws when it is an error, or no chunk at all. */
export function step(state: FoldState, raw: unknown): FoldStep {
  const { delta, finishReason, usage } = readChunk(raw);
  const events: ModelEvent[] = [];
  const called = addPieces(state.calls, piecesOf(delta));
  const next: FoldState = {
    ...state,
    ...(delta && readDelta(state, delta, events)),
    calls: called.calls,
    usage: usage ?? state.usage,
    finishReason: finishReason ?? state.finishReason,
  };
  events.push(...called.events);
  if (finishReason === undefined) return { state: next, events };
  rejectFailure(finishReason);
  const ended = endCalls(next.calls);
  return { state: { ...next, calls: ended.calls }, events: [...events, ...ended.events] };
}

/** `[DONE]`: the end of servers that give no reason, unless a call is still open; that was cut off. */
export function streamDone(state: FoldState): FoldStep {
  if (state.finishReason !== undefined || hasHalfCall(state.calls)) return { state, events: [] };
  const { calls, events } = endCalls(state.calls);
  return { state: { ...state, calls, finishReason: "stop" }, events };
}

/** The last events; none when the stream stopped without saying why, which is not an end. */
export function finishFold(state: FoldState): readonly ModelEvent[] {
  if (state.finishReason === undefined) return [];
  const reasoning = state.heldReasoning.toWellFormed();
  const text = state.heldText.toWellFormed();
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning-delta", text: reasoning } as const]),
    ...(text === "" ? [] : [{ type: "text-delta", text } as const]),
    {
      type: "finish",
      reason: reasonOf(state, state.finishReason),
      usage: state.usage,
      ...(state.details.length > 0 && { reasoningDetails: state.details }),
    },
  ];
}

/** Adds the delta's text to `events`; gives what it changes of the state. */
function readDelta(state: FoldState, delta: ChunkDelta, events: ModelEvent[]): Partial<FoldState> {
  const pieces = delta.reasoning_details ?? [];
  const reasoningPiece = delta.reasoning || delta.reasoning_content || readableReasoning(pieces);
  const reasoning = wholeCharacters(state.heldReasoning, reasoningPiece);
  const text = wholeCharacters(state.heldText, (delta.content ?? "") + (delta.refusal ?? ""));
  if (reasoning.text !== "") events.push({ type: "reasoning-delta", text: reasoning.text });
  if (text.text !== "") events.push({ type: "text-delta", text: text.text });
  return {
    heldReasoning: reasoning.held,
    heldText: text.held,
    refused: state.refused || Boolean(delta.refusal),
    ...(pieces.length > 0 && { details: joinReasoningDetails(state.details, pieces) }),
  };
}

function piecesOf(delta: ChunkDelta | undefined): readonly CallPiece[] {
  return (delta?.tool_calls ?? []).map(({ index, id, function: called }, position) => ({
    key: index ?? position,
    id: id || undefined,
    name: called?.name || undefined,
    arguments: argumentsOf(called?.arguments),
  }));
}

function argumentsOf(value: string | Record<string, unknown> | null | undefined): string {
  if (typeof value === "string") return value;
  return value ? JSON.stringify(value) : "";
}

/** Reasons that mean an error in the middle of the answer: OpenRouter's and DeepSeek's. */
function rejectFailure(reason: string): void {
  if (reason === "error") throw new Error("server_error: it stopped in the middle of the answer");
  if (reason === "insufficient_system_resource") throw new Error("overloaded: it ran out of resources");
}

/** Servers say "stop" over calls, or invent reasons; what was streamed decides. */
function reasonOf({ calls, refused }: FoldState, reason: string): FinishReason {
  if (refused || reason === "content_filter") return "refusal";
  if (reason === "length" || reason === "max_tokens" || reason === "model_length") return "length";
  return calls.calls.length > 0 ? "tool_calls" : "stop";
}
