/** Replays a stored session as updates, whole or page by page: messages, thoughts, tool calls with their diffs, the plan. */
import { setImmediate } from "node:timers/promises";
import type { SessionUpdate, ToolKind } from "@zed-industries/agent-client-protocol";
import type { Message, ToolCall, ToolMessage } from "../messages/message.ts";
import { defined } from "../platform/defined.ts";
import type { HermesEarlier, HermesEarlierPage } from "../protocol/sessions.ts";
import type { HermesUpdateMeta } from "../protocol/update-meta.ts";
import { droppedCount, type TranscriptEntry } from "../sessions/conversation.ts";
import { type EntryOf, parseLine } from "../sessions/entry.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { answerText, shownCount } from "../sessions/shown-message.ts";
import {
  type ChunkUpdate,
  chunk,
  compressionUpdate,
  hookContent,
  infoUpdate,
  noticeUpdate,
  planUpdate,
  resultContent,
  userUpdates,
} from "./conversation-updates.ts";
import { titleOf } from "./update-callbacks.ts";

/** Text of a tool call without a stored result. */
const CUT_OFF = "cut off before its result was stored.";

const TOOL_KINDS = new Set("read edit delete move search execute think fetch switch_mode other".split(" "));

/** Parts of a session that a replay shows besides messages. */
type StoredCalls = Pick<StoredSession, "toolEntry" | "diffsOf" | "decisionsOf" | "noticesAt">;

/** Lazy: a long session has many updates, and each reads its tool entry from the disk. `transcript`: default: all of it. */
export function* replay(stored: StoredSession, transcript = stored.conversation.transcript): Generator<SessionUpdate> {
  const { records, conversation, todos, goal } = stored;
  yield* replayMessages(transcript, stored);
  const { compression } = conversation;
  // The conversation holds the journal's entry itself.
  const entry = records.find((candidate) => candidate.type === "compression" && candidate === compression);
  if (compression !== undefined && entry?.type === "compression") {
    yield compressionUpdate(conversation.transcript, compression, { ...entry, messages: droppedCount(compression) });
  }
  const undoneCalls = records.flatMap((one) => (one.type === "memory-undo" ? [one.callId] : []));
  if (undoneCalls.length > 0) yield infoUpdate({ undoneCalls });
  if (todos.length > 0) yield planUpdate(todos);
  if (goal !== undefined) yield infoUpdate({ goal: goal.state });
  const { error, fault, keyFor } = stored.failedTurn ?? {};
  if (error !== undefined) yield noticeUpdate("error", error, { failedTurn: defined({ fault, keyFor }) });
}

/** Updates of the messages, each call with its result. */
export function* replayMessages(transcript: readonly TranscriptEntry[], calls: StoredCalls): Generator<SessionUpdate> {
  /** Calls that still wait for their result. */
  const open = new Map<string, Called>();
  for (const one of transcript) {
    const { message, position } = one;
    if (message.role !== "tool") yield* cutOff(open, calls);
    if (message.role === "assistant")
      for (const { id, function: called } of message.tool_calls ?? []) open.set(id, called);
    if (message.role === "tool") {
      yield resultUpdate(message, open, calls);
      yield* partsOf(message.tool_call_id, calls);
    } else
      for (const update of messageUpdates(message, position)) yield { ...update, messageId: `message-${position}` };
    yield* noticesAt(position + 1, calls);
  }
  yield* cutOff(open, calls);
}

function* noticesAt(position: number, calls: StoredCalls): Generator<SessionUpdate> {
  for (const { text, callId } of calls.noticesAt(position)) yield noticeUpdate("info", text, { memoryCall: callId });
}

/** Calls of a turn that ended with its process: their results were never stored. */
function* cutOff(open: Map<string, Called>, calls: StoredCalls): Generator<SessionUpdate> {
  for (const [id, called] of open) {
    const entry = calls.toolEntry(id);
    yield toolUpdate(id, entry === undefined ? `Error: ${CUT_OFF}` : CUT_OFF, { entry, called }, calls);
  }
  open.clear();
}

function resultUpdate(
  { tool_call_id: id, content, images }: ToolMessage,
  open: Map<string, Called>,
  calls: StoredCalls,
): SessionUpdate {
  const called = open.get(id);
  open.delete(id);
  return toolUpdate(id, content, { entry: calls.toolEntry(id), called, images }, calls);
}

/** Calls that a call made itself, as a script does. The session has their displays, and no messages with their results. */
function* partsOf(parent: string, calls: StoredCalls): Generator<SessionUpdate> {
  for (let number = 1; ; number += 1) {
    const entry = calls.toolEntry(`${parent}/${number}`);
    if (entry?.parent !== parent) return;
    yield toolUpdate(entry.callId, "", { entry }, calls);
  }
}

function messageUpdates(message: Exclude<Message, ToolMessage>, position: number): readonly ChunkUpdate[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return userUpdates(message, position);
    case "assistant": {
      const updates: ChunkUpdate[] = [];
      if (message.reasoning) updates.push(chunk("agent_thought_chunk", message.reasoning));
      const text = answerText(message);
      if (text !== "") updates.push(chunk("agent_message_chunk", text));
      return updates;
    }
  }
}

/** Name and arguments (JSON) of a call, as the model wrote them. */
type Called = ToolCall["function"];

type Call = {
  readonly entry: EntryOf<"tool"> | undefined;
  readonly called?: Called | undefined;
  readonly images?: ToolMessage["images"] | undefined;
};

function toolUpdate(
  toolCallId: string,
  text: string,
  { entry, called, images = [] }: Call,
  { diffsOf, decisionsOf }: StoredCalls,
): SessionUpdate {
  const result = {
    ok: entry?.ok ?? !text.startsWith("Error: "),
    text,
    diffs: entry === undefined ? [] : diffsOf(entry),
    problems: entry?.problems ?? [],
    ...(entry?.tasks && { tasks: entry.tasks }),
    links: entry?.links ?? [],
    images,
  };
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    title: entry?.title ?? titleOf(called?.name ?? "tool_call"),
    kind: isToolKind(entry?.kind) ? entry.kind : "other",
    status: result.ok ? "completed" : "failed",
    content: [...resultContent(result), ...hookContent(entry?.hooks ?? [])],
    // The diff of an edit already shows its arguments.
    ...(called && result.diffs.length === 0 && { rawInput: parseLine(called.arguments) ?? called.arguments }),
    ...(entry && {
      name: entry.name,
      locations: entry.locations.map((location) => ({ ...location })),
      _meta: { hermes: { ...toolMeta(entry), ...defined({ decisions: decisionsOf(toolCallId) }) } },
    }),
  };
}

function toolMeta({ durationMs, hooks, rejected, tasks, parent }: EntryOf<"tool">): HermesUpdateMeta {
  return { durationMs, ...defined({ hooks, rejected, tasks, parentToolCallId: parent }) };
}

function isToolKind(kind: string | undefined): kind is ToolKind {
  return kind !== undefined && TOOL_KINDS.has(kind);
}

/** A turn that makes the page longer by more than this is cut between two of its steps. Messages. */
const LONGEST_REST = 400;

export type ReplayPage = {
  readonly page: readonly TranscriptEntry[];
  /** Null at the beginning of the conversation. */
  readonly earlier: HermesEarlier | null;
};

/**
 * The last turns before position `before` that hold at least `messages` messages and tool results; default: all. Results
 * of calls before `before` belong to the page.
 */
export function pageBefore(
  transcript: readonly TranscriptEntry[],
  before: number,
  messages = Number.POSITIVE_INFINITY,
): ReplayPage {
  const end = endBefore(transcript, before);
  const start = startOfPage(transcript, end, messages);
  const earlier = shownCount(transcript.slice(0, start).map(({ shownAs }) => shownAs));
  const first = transcript[start];
  // A rest without any shown message is not a page of its own.
  if (earlier === 0 || first === undefined) return { page: transcript.slice(0, end), earlier: null };
  return { page: transcript.slice(start, end), earlier: { before: first.position, messages: earlier } };
}

function endBefore(transcript: readonly TranscriptEntry[], before: number): number {
  const found = transcript.findIndex(({ position }) => position >= before);
  let end = found < 0 ? transcript.length : found;
  while (transcript[end]?.role === "tool") end += 1;
  return end;
}

function startOfPage(transcript: readonly TranscriptEntry[], end: number, messages: number): number {
  const start = Math.max(0, end - messages);
  const lowest = Math.max(0, start - LONGEST_REST);
  for (let index = start; index >= lowest; index -= 1) if (beginsTurn(transcript, index)) return index;
  for (let index = start; index > 0; index -= 1) if (transcript[index]?.role !== "tool") return index;
  return 0;
}

/** A message that steers a running turn does not begin a turn. */
function beginsTurn(transcript: readonly TranscriptEntry[], index: number): boolean {
  return transcript[index]?.shownAs === "prompt" && transcript[index - 1]?.role !== "tool";
}

/** Updates of a page between two yields to the event loop: a turn may be running. */
const YIELD_AFTER = 64;

export type PageRequest = {
  readonly before: number;
  /** Default: all. */
  readonly messages?: number;
  readonly signal: AbortSignal;
};

/** Pages of a conversation, for a client that loads a session from its end. A page has whole turns. */
export class ReplayPages {
  readonly #transcript: () => readonly TranscriptEntry[];
  readonly #calls: StoredCalls;
  /** The client has got everything from here on as live updates. */
  readonly #end: number;

  /** `transcript` reads the current conversation; `stored` is the session at its opening. */
  constructor(transcript: () => readonly TranscriptEntry[], stored: StoredSession | undefined) {
    this.#transcript = transcript;
    const none = { toolEntry: () => undefined, diffsOf: () => [], decisionsOf: () => undefined, noticesAt: () => [] };
    this.#calls = stored ?? none;
    this.#end = stored?.conversation.next ?? 0;
  }

  /** The messages before a position. Rejects with the signal's reason. */
  async page({ before, messages, signal }: PageRequest): Promise<HermesEarlierPage> {
    const { page, earlier } = pageBefore(this.#transcript(), Math.min(before, this.#end), messages);
    const updates: SessionUpdate[] = [];
    for (const update of replayMessages(page, this.#calls)) {
      updates.push(update);
      if (updates.length % YIELD_AFTER !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
    return { updates, earlier };
  }
}
