/** A stored session as the updates that show it again: messages, thoughts, tool calls with their diffs, the plan. */
import type { SessionUpdate, ToolKind } from "@zed-industries/agent-client-protocol";
import { droppedCount, type Said } from "../sessions/conversation.ts";
import type { JournalEntry } from "../sessions/entry.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { compressionUpdate } from "./compression-update.ts";
import { resultContent } from "./tool-content.ts";
import { planUpdate } from "./updates.ts";
import { chunk, userUpdates } from "./user-updates.ts";

type ToolEntry = Extract<JournalEntry, { type: "tool" }>;

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

export function replay({ entries, conversation, todos }: StoredSession): readonly SessionUpdate[] {
  const shown = new Map(entries.filter((entry) => entry.type === "tool").map((entry) => [entry.callId, entry]));
  const updates = conversation.said.flatMap((said) => messageUpdates(said, shown));
  const { compression } = conversation;
  // An entry of the journal is what the conversation was compressed by, itself.
  const entry = entries.find((candidate) => candidate.type === "compression" && candidate === compression);
  if (compression !== undefined && entry?.type === "compression") {
    updates.push(compressionUpdate(conversation.said, compression, { ...entry, messages: droppedCount(compression) }));
  }
  return todos.length > 0 ? [...updates, planUpdate(todos)] : updates;
}

function messageUpdates({ message, position }: Said, shown: ReadonlyMap<string, ToolEntry>): readonly SessionUpdate[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return userUpdates(message, position);
    case "assistant": {
      const updates: SessionUpdate[] = [];
      if (message.reasoning) updates.push(chunk("agent_thought_chunk", message.reasoning));
      if (message.content) updates.push(chunk("agent_message_chunk", message.content));
      return updates;
    }
    case "tool":
      return [toolUpdate(message.tool_call_id, message.content, shown.get(message.tool_call_id))];
  }
}

function toolUpdate(toolCallId: string, text: string, entry: ToolEntry | undefined): SessionUpdate {
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
