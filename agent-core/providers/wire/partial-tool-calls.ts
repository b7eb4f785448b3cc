/**
 * Tool calls that arrive in pieces: one accumulator for all wires, as values that are replaced and never changed.
 * It knows when a call begins and when it is complete, whatever the server forgets to say.
 */
import { randomUUID } from "node:crypto";
import type { ModelEvent } from "./wire.ts";

/** OpenAI refuses ids of more than 40 characters; a conversation may move there at any time. */
const NEW_ID_CHARS = 24;

/** One piece as the provider sent it. */
export type CallPiece = {
  /** The provider's own number of the call. */
  readonly key: number;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
};

type PartialCall = {
  /** Place among the calls of the answer. */
  readonly index: number;
  readonly key: number;
  readonly id: string;
  /** As the provider sent it; `id` differs when it sent none, or one that is taken. */
  readonly sentId: string | undefined;
  readonly name: string;
  readonly arguments: string;
  readonly phase: "unnamed" | "open" | "ended";
};

export type PartialCalls = {
  readonly calls: readonly PartialCall[];
  readonly takenIds: ReadonlySet<string>;
  newId(): string;
};

export type CallProgress = { readonly calls: PartialCalls; readonly events: readonly ModelEvent[] };

/** No calls yet. `takenIds` are those of the conversation: some servers count from zero in every answer. */
export function noCalls(takenIds: Iterable<string>, newId: () => string = newCallId): PartialCalls {
  return { calls: [], takenIds: new Set(takenIds), newId };
}

/** An id for a call that its provider gave none. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "").slice(0, NEW_ID_CHARS)}`;
}

/**
 * Takes the pieces of one chunk, none included: a call that was not continued and whose arguments are a whole object
 * has ended. Throws when a call goes on after its end.
 */
export function addPieces(calls: PartialCalls, pieces: readonly CallPiece[]): CallProgress {
  if (pieces.length === 0 && calls.calls.every(({ phase }) => phase === "ended")) return { calls, events: [] };
  const draft: Draft = { calls: [...calls.calls], events: [] };
  const touched = new Set(pieces.map((piece) => addPiece(draft, piece, calls)));
  endComplete(draft, ({ index }) => !touched.has(index));
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

/** Ends every open call, complete or not: the stream has said that the answer is over. */
export function endCalls(calls: PartialCalls): CallProgress {
  const draft: Draft = { calls: [...calls.calls], events: [] };
  for (const call of calls.calls) if (call.phase !== "ended") end(draft, call);
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

/**
 * Ends the call of this number: the provider said that it is complete. Half arguments stay open all the same, until
 * `endCalls`; what the answer ends with may say why.
 */
export function endCall(calls: PartialCalls, key: number): CallProgress {
  const call = calls.calls.findLast((candidate) => candidate.key === key && candidate.phase !== "ended");
  const isWhole = call !== undefined && (call.arguments.trim() === "" || isWholeObject(call.arguments));
  if (!isWhole) return { calls, events: [] };
  const draft: Draft = { calls: [...calls.calls], events: [] };
  end(draft, call);
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

/** True when a call is open whose arguments are not whole; none at all are. */
export function hasHalfCall({ calls }: PartialCalls): boolean {
  return calls.some((call) => call.phase !== "ended" && call.arguments !== "" && !isWholeObject(call.arguments));
}

/** Lives inside one function call only. */
type Draft = { readonly calls: PartialCall[]; readonly events: ModelEvent[] };

/** Gives the index of the call that the piece belongs to. */
function addPiece(draft: Draft, piece: CallPiece, { takenIds, newId }: PartialCalls): number {
  const found = draft.calls.findLast(({ key }) => key === piece.key);
  if (found !== undefined && !beginsAnother(found, piece)) {
    extend(draft, found, piece);
    return found.index;
  }
  endComplete(draft, () => true);
  const taken = (id: string): boolean => takenIds.has(id) || draft.calls.some((call) => call.id === id);
  const call: PartialCall = {
    index: draft.calls.length,
    key: piece.key,
    id: piece.id && !taken(piece.id) ? piece.id : newId(),
    sentId: piece.id,
    name: "",
    arguments: "",
    phase: "unnamed",
  };
  draft.calls.push(call);
  extend(draft, call, piece);
  return call.index;
}

/**
 * Servers that number every call 0, or not at all, are told apart by a name on top of a call that is complete. A new id
 * alone means nothing (vLLM gave every piece its own), and neither does a name that is merely repeated.
 */
function beginsAnother(call: PartialCall, { id, name, arguments: text = "" }: CallPiece): boolean {
  if (!name || (id && id === call.sentId)) return false;
  if (call.arguments === "") return Boolean(id) && call.name !== "";
  return (Boolean(id) || text !== "") && isWholeObject(call.arguments);
}

function extend(draft: Draft, call: PartialCall, { name, arguments: text = "" }: CallPiece): void {
  if (call.phase === "ended") {
    if (text.trim() === "") return;
    throw new Error(`The call of ${call.name} went on after its end.`);
  }
  const extended: PartialCall = {
    ...call,
    name: call.name || (name ?? ""),
    arguments: call.arguments + text,
    phase: call.name || name ? "open" : "unnamed",
  };
  draft.calls[call.index] = extended;
  if (extended.phase === "unnamed") return;
  if (call.phase === "unnamed") draft.events.push(startOf(extended));
  const added = call.phase === "unnamed" ? extended.arguments : text;
  if (added !== "") draft.events.push({ type: "tool-call-delta", index: call.index, text: added });
}

function endComplete(draft: Draft, which: (call: PartialCall) => boolean): void {
  for (const call of draft.calls) {
    if (call.phase === "open" && which(call) && isWholeObject(call.arguments)) end(draft, call);
  }
}

function end(draft: Draft, call: PartialCall): void {
  draft.calls[call.index] = { ...call, phase: "ended" };
  if (call.phase === "unnamed") draft.events.push(startOf(call));
  const { id, index, name } = call;
  const ended = { id, type: "function", function: { name, arguments: call.arguments.trim() || "{}" } } as const;
  draft.events.push({ type: "tool-call-end", index, call: ended });
}

function startOf({ index, id, name }: PartialCall): ModelEvent {
  return { type: "tool-call-start", index, id, name };
}

function isWholeObject(text: string): boolean {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return false;
  try {
    JSON.parse(trimmed);
    return true;
  } catch {
    return false; // the rest is still to come
  }
}
