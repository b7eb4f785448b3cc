/** Replays a stored session as updates: messages, thoughts, tool calls with their diffs, the plan. */
import type { SessionUpdate, ToolKind } from "@zed-industries/agent-client-protocol";
import type { Message, ToolMessage } from "../messages/message.ts";
import { droppedCount, type TranscriptEntry } from "../sessions/conversation.ts";
import { type EntryOf, parseLine } from "../sessions/entry.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { answerText } from "../sessions/shown-message.ts";
import { chunk, compressionUpdate, planUpdate, resultContent, userUpdates } from "./conversation-updates.ts";

/** Text of a tool call without a stored result. */
const CUT_OFF = "cut off before its result was stored.";

const TOOL_KINDS: ReadonlySet<string> = new Set<ToolKind>([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
]);

/** Lazy: a long session has many updates, and each reads its tool entry from the disk. `said`: default: everything. */
export function* replay(stored: StoredSession, said = stored.conversation.transcript): Generator<SessionUpdate> {
  const { records, conversation, todos, toolEntry } = stored;
  yield* replaySaid(said, toolEntry);
  const { compression } = conversation;
  // The conversation holds the journal's entry itself.
  const entry = records.find((candidate) => candidate.type === "compression" && candidate === compression);
  if (compression !== undefined && entry?.type === "compression") {
    yield compressionUpdate(conversation.transcript, compression, { ...entry, messages: droppedCount(compression) });
  }
  if (todos.length > 0) yield planUpdate(todos);
}

/** Updates of the messages, each call with its result. */
export function* replaySaid(
  said: readonly TranscriptEntry[],
  toolEntry: StoredSession["toolEntry"],
): Generator<SessionUpdate> {
  /** Arguments of the calls that still wait for their result. */
  const open = new Map<string, string>();
  for (const one of said) {
    const { message, position } = one;
    if (message.role !== "tool") yield* cutOff(open, toolEntry);
    if (message.role === "assistant")
      for (const { id, function: call } of message.tool_calls ?? []) open.set(id, call.arguments);
    if (message.role === "tool") yield resultUpdate(message, open, toolEntry);
    else yield* messageUpdates(message, position);
  }
  yield* cutOff(open, toolEntry);
}

/** Calls of a turn that ended with its process: their results were never stored. */
function* cutOff(open: Map<string, string>, toolEntry: StoredSession["toolEntry"]): Generator<SessionUpdate> {
  for (const [id, input] of open) {
    const entry = toolEntry(id);
    yield toolUpdate(id, entry === undefined ? `Error: ${CUT_OFF}` : CUT_OFF, { entry, input });
  }
  open.clear();
}

function resultUpdate(
  { tool_call_id: id, content }: ToolMessage,
  open: Map<string, string>,
  toolEntry: StoredSession["toolEntry"],
): SessionUpdate {
  const input = open.get(id);
  open.delete(id);
  return toolUpdate(id, content, { entry: toolEntry(id), input });
}

function messageUpdates(message: Exclude<Message, ToolMessage>, position: number): readonly SessionUpdate[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return userUpdates(message, position);
    case "assistant": {
      const updates: SessionUpdate[] = [];
      if (message.reasoning) updates.push(chunk("agent_thought_chunk", message.reasoning));
      const text = answerText(message);
      if (text !== "") updates.push(chunk("agent_message_chunk", text));
      return updates;
    }
  }
}

type Call = {
  readonly entry: EntryOf<"tool"> | undefined;
  /** JSON. */
  readonly input: string | undefined;
};

function toolUpdate(toolCallId: string, text: string, { entry, input }: Call): SessionUpdate {
  const result = {
    ok: entry?.ok ?? !text.startsWith("Error: "),
    text,
    diffs: entry?.diffs ?? [],
    problems: entry?.problems ?? [],
  };
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    title: entry?.title ?? "Tool call",
    kind: isToolKind(entry?.kind) ? entry.kind : "other",
    status: result.ok ? "completed" : "failed",
    content: resultContent(result),
    // The diff of an edit already shows its arguments.
    ...(input !== undefined && result.diffs.length === 0 && { rawInput: parseLine(input) ?? input }),
    ...(entry && {
      name: entry.name,
      locations: entry.locations.map((location) => ({ ...location })),
      _meta: { hermes: { durationMs: entry.durationMs } },
    }),
  };
}

function isToolKind(kind: string | undefined): kind is ToolKind {
  return kind !== undefined && TOOL_KINDS.has(kind);
}
