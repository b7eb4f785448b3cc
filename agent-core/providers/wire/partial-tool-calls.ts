/**
 * Accumulates tool calls that arrive in pieces, for all wires, as immutable values. Finds the beginning and the end of
 * each call, even if the server does not report them.
 */
import type { Message, ToolCall } from "../../messages/message.ts";
import { parseJson } from "../../platform/json.ts";
import { newId } from "../../platform/new-id.ts";
import type { ModelEvent } from "./wire.ts";

/** OpenAI refuses ids of more than 40 characters, and a conversation may move there. */
const NEW_ID_CHARS = 24;

export type CallPiece = {
  /** The provider's number of the call. */
  readonly key: number;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
  /** Opaque fields of the call. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
};

type PartialCall = {
  /** Index among the calls of the answer. */
  readonly index: number;
  readonly key: number;
  readonly id: string;
  /** The provider's id; `id` differs when it is missing or taken. */
  readonly sentId: string | undefined;
  readonly name: string;
  readonly arguments: string;
  /** Place in the JSON text where `arguments` ends. */
  readonly place: JsonPlace;
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  /** `held`: further arguments behind complete ones, which are no call if they only repeat those. */
  readonly phase: "unnamed" | "open" | "held" | "ended";
};

export type PartialCalls = {
  readonly calls: readonly PartialCall[];
  readonly takenIds: ReadonlySet<string>;
  newId(): string;
};

export type CallProgress = { readonly calls: PartialCalls; readonly events: readonly ModelEvent[] };

/** The start. Ids of calls in `messages` are taken, because some servers count from zero in every answer. */
export function noCalls(messages: readonly Message[], newId: () => string = newCallId): PartialCalls {
  const takenIds = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") for (const { id } of message.tool_calls ?? []) takenIds.add(id);
  }
  return { calls: [], takenIds, newId };
}

export function newCallId(): string {
  return `call_${newId().replaceAll("-", "").slice(0, NEW_ID_CHARS)}`;
}

/**
 * Adds the pieces of one chunk. A call ends with the brace that closes its arguments. Empty arguments `{}` end with the next
 * chunk, because some servers send them before the real ones. Arguments that follow complete ones are a call of their own:
 * some servers join parallel calls. Throws when a call continues after its end with anything else.
 */
export function addPieces(calls: PartialCalls, pieces: readonly CallPiece[]): CallProgress {
  if (pieces.length === 0 && calls.calls.every(({ phase }) => phase === "ended")) return { calls, events: [] };
  const draft: Draft = { calls: [...calls.calls], events: [] };
  const touched = new Set(pieces.map((piece) => addPiece(draft, piece, calls)));
  endComplete(draft, ({ index }) => !touched.has(index));
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

export function endCalls(calls: PartialCalls): CallProgress {
  const draft: Draft = { calls: [...calls.calls], events: [] };
  for (const call of calls.calls) if (call.phase !== "ended") end(draft, call);
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

/**
 * Ends a call that the provider reported complete. Incomplete arguments stay open until `endCalls`, because the end of
 * the answer may explain them.
 */
export function endCall(calls: PartialCalls, key: number): CallProgress {
  const call = calls.calls.findLast((candidate) => candidate.key === key && candidate.phase !== "ended");
  const isWhole = call !== undefined && (call.arguments.trim() === "" || isWholeObject(call.arguments));
  if (!isWhole) return { calls, events: [] };
  const draft: Draft = { calls: [...calls.calls], events: [] };
  end(draft, call);
  return { calls: { ...calls, calls: draft.calls }, events: draft.events };
}

/** True when an open call has incomplete arguments. */
export function hasHalfCall({ calls }: PartialCalls): boolean {
  return calls.some((call) => call.phase !== "ended" && call.arguments !== "" && !isWholeObject(call.arguments));
}

/** Local to one function call. */
type Draft = { readonly calls: PartialCall[]; readonly events: ModelEvent[] };

/** Returns the index of the piece's call. */
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
    place: START,
    extra: undefined,
    phase: "unnamed",
  };
  draft.calls.push(call);
  extend(draft, call, piece);
  return call.index;
}

/**
 * Some servers number every call 0 or not at all. A name after a complete call begins another. A new id alone does not
 * (vLLM gives every piece its own), nor does a repeated name.
 */
function beginsAnother(call: PartialCall, { id, name, arguments: text = "" }: CallPiece): boolean {
  if (!name || (id && id === call.sentId)) return false;
  if (call.arguments === "") return Boolean(id) && call.name !== "";
  return (Boolean(id) || text !== "") && isWholeObject(call.arguments);
}

function extend(draft: Draft, call: PartialCall, piece: CallPiece): void {
  const { name, arguments: text = "", extra } = piece;
  const [own, others] = splitAfterObject(call, text);
  if (own !== text) {
    extend(draft, call, { ...piece, arguments: own });
    const extended = draft.calls[call.index];
    if (extended !== undefined) continueAfter(draft, extended, others);
    return;
  }
  if (call.phase === "ended") {
    continueAfter(draft, call, text);
    return;
  }
  const extended: PartialCall = {
    ...call,
    ...argumentsAfter(call, text),
    name: joinedName(call, name),
    extra: extra === undefined ? call.extra : { ...call.extra, ...extra },
    phase: phaseAfter(call, name),
  };
  draft.calls[call.index] = extended;
  if (extended.phase === "unnamed") return;
  if (call.phase === "unnamed") draft.events.push(startOf(extended));
  const added = call.phase === "unnamed" ? extended.arguments : text;
  if (added !== "" && extended.phase === "open")
    draft.events.push({ type: "tool-call-delta", index: call.index, text: added });
  const { place, arguments: json } = extended;
  const isClosed = place.depth === 0 && json.trim() !== "{}" && isWholeObject(json);
  if (added !== "" && isClosed) end(draft, extended);
}

/** A name comes whole, again and again, growing, or in pieces. gpt-oss writes tokens of its format after it (issue 32587 of vLLM). */
function joinedName({ name: known, arguments: json }: PartialCall, piece = ""): string {
  const name = piece.replace(/<\|.*$/s, "");
  if (known === "" || name.startsWith(known)) return name || known;
  return json === "" && !known.endsWith(name) ? known + name : known;
}

/** Longest `{}` with white space around it. Characters. */
const EMPTY_CHARS = 20;

/** Some servers send `{}` before the real arguments. */
function argumentsAfter(call: PartialCall, text: string): Pick<PartialCall, "arguments" | "place"> {
  // Long arguments are a rope, which each look at their text would flatten.
  const mayBeEmpty = call.place.depth === 0 && call.arguments.length < EMPTY_CHARS;
  const isReplaced = mayBeEmpty && call.arguments.trim() === "{}" && text.trimStart().startsWith("{");
  const { arguments: json, place } = isReplaced ? { arguments: "", place: START } : call;
  return { arguments: json + text, place: placeAfter(place, text) };
}

function phaseAfter(call: PartialCall, name: string | undefined): PartialCall["phase"] {
  if (call.phase === "held") return "held";
  return call.name || name ? "open" : "unnamed";
}

/** Text behind complete arguments: nothing, the arguments again, or those of another call of the same tool. */
function continueAfter(draft: Draft, call: PartialCall, text: string): void {
  const further = text.trim();
  if (further === "") return;
  if (call.phase !== "ended") extend(draft, call, { key: call.key, arguments: text });
  else if (further.startsWith("{")) hold(draft, call, text);
  else if (/["[\]{}]/.test(further)) throw new Error(`The call of ${call.name} went on after its end.`);
}

function hold(draft: Draft, { key, name }: PartialCall, text: string): void {
  const held: PartialCall = {
    index: draft.calls.length,
    key,
    id: newCallId(),
    sentId: undefined,
    name,
    arguments: "",
    place: START,
    extra: undefined,
    phase: "held",
  };
  draft.calls.push(held);
  extend(draft, held, { key, arguments: text });
}

/** Place in a JSON text: count of open braces and brackets, and the state of a string. */
type JsonPlace = { readonly depth: number; readonly isInString: boolean; readonly isEscaped: boolean };

const START: JsonPlace = { depth: 0, isInString: false, isEscaped: false };

/** An escaped character, the first half of one, a quotation mark, a brace or a bracket. */
const TOKEN = /\\[\s\S]?|["{}[\]]/g;

/** Reads each character once: parsing long arguments after each of their pieces would take seconds. */
function placeAfter({ depth, isInString, isEscaped }: JsonPlace, text: string): JsonPlace {
  const rest = isEscaped && text !== "" ? text.slice(1) : text;
  let endsEscaped = isEscaped && text === "";
  for (const [token] of rest.matchAll(TOKEN)) {
    if (token.startsWith("\\")) endsEscaped = token.length === 1;
    else if (token === '"') isInString = !isInString;
    else if (!isInString) depth += token === "{" || token === "[" ? 1 : -1;
  }
  return { depth, isInString, isEscaped: endsEscaped };
}

/** The text up to the end of the call's object, and the further objects behind it. */
function splitAfterObject({ place, phase }: PartialCall, text: string): readonly [own: string, others: string] {
  const whole = [text, ""] as const;
  if (phase === "ended" || !/\}\s*\{/.test(text)) return whole;
  let [read, at] = [place, 0];
  for (const { index } of text.matchAll(/\}(?=\s*\{)/g)) {
    read = placeAfter(read, text.slice(at, index + 1));
    at = index + 1;
    if (read.depth === 0 && !read.isInString) return [text.slice(0, at), text.slice(at)];
  }
  return whole;
}

function endComplete(draft: Draft, which: (call: PartialCall) => boolean): void {
  for (const call of draft.calls) {
    if (call.phase === "open" && which(call) && isWholeObject(call.arguments)) end(draft, call);
  }
}

function end(draft: Draft, call: PartialCall): void {
  draft.calls[call.index] = { ...call, phase: "ended" };
  if (call.phase === "held" && repeats(draft, call)) return;
  if (call.phase !== "open") draft.events.push(startOf(call));
  const { id, index, name, extra } = call;
  const called = { name, arguments: call.arguments.trim() || "{}" };
  const ended: ToolCall = { id, type: "function", function: called, ...(extra && { extra }) };
  draft.events.push({ type: "tool-call-end", index, call: ended });
}

/** Some servers repeat the whole arguments in their last chunk. */
function repeats({ calls }: Draft, { index, key, arguments: json }: PartialCall): boolean {
  return calls.some((call) => call.index < index && call.key === key && call.arguments.trim() === json.trim());
}

function startOf({ index, id, name }: PartialCall): ModelEvent {
  return { type: "tool-call-start", index, id, name };
}

/** True for the JSON of an object, with white space around it or without. */
export function isWholeObject(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("{") && trimmed.endsWith("}") && parseJson(trimmed) !== undefined;
}
