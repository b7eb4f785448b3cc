/** Tool calls: each update says only what changed; the card keeps the rest. */
import type { ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import type { Entry, PanelState, ToolEntry } from "./state.ts";
import { sealOpen } from "./transcript.ts";

/** Merges `update` into the call it names, or adds a card when there is none. `at`: clock, milliseconds. */
export function upsertToolCall(state: PanelState, update: ToolCallUpdate, at: number): PanelState {
  const index = indexOfCall(state.entries, update.toolCallId);
  const known = state.entries[index];
  if (known?.type === "tool") return replaceEntry(state, index, merge(known, update, at));
  const sealed = sealOpen(state, at);
  const fresh: ToolEntry = {
    type: "tool",
    key: `e${sealed.nextKey}`,
    id: update.toolCallId,
    title: "",
    kind: "other",
    status: "pending",
    content: [],
    locations: [],
    rawInput: undefined,
    startedAt: sealed.running ? at : undefined,
    durationMs: undefined,
    waiting: false,
    verdict: undefined,
  };
  return { ...sealed, nextKey: sealed.nextKey + 1, entries: [...sealed.entries, merge(fresh, update, at)] };
}

/** Changes the card of one call, if it is there. */
export function changeToolCall(state: PanelState, id: string, change: Partial<ToolEntry>): PanelState {
  const index = indexOfCall(state.entries, id);
  const known = state.entries[index];
  return known?.type === "tool" ? replaceEntry(state, index, { ...known, ...change }) : state;
}

/** Marks what still runs as stopped: the turn that would have finished it is over. */
export function stopToolCalls(state: PanelState): PanelState {
  if (!state.entries.some(isUnfinished)) return state;
  const entries = state.entries.map(
    (entry): Entry => (isUnfinished(entry) ? { ...entry, status: "stopped", waiting: false } : entry),
  );
  return { ...state, entries };
}

/** True for a call that has not come to its end. */
export function isUnfinished(entry: Entry): entry is ToolEntry {
  return entry.type === "tool" && (entry.status === "pending" || entry.status === "in_progress");
}

// Calls that change are nearly always among the last ones, so the search begins at the end.
function indexOfCall(entries: readonly Entry[], id: string): number {
  return entries.findLastIndex((entry) => entry.type === "tool" && entry.id === id);
}

function merge(card: ToolEntry, update: ToolCallUpdate, at: number): ToolEntry {
  const status = update.status ?? card.status;
  const ended = status === "completed" || status === "failed";
  const measured = ended && card.startedAt !== undefined ? at - card.startedAt : undefined;
  const begins = status === "in_progress" && card.status === "pending" && card.startedAt !== undefined;
  return {
    ...card,
    status,
    title: update.title ?? card.title,
    kind: update.kind ?? card.kind,
    content: update.content ?? card.content,
    locations: update.locations ?? card.locations,
    rawInput: update.rawInput ?? card.rawInput,
    // Waiting for a permission is not the tool's own time.
    startedAt: begins ? at : card.startedAt,
    durationMs: declaredDuration(update) ?? card.durationMs ?? measured,
  };
}

function declaredDuration(update: ToolCallUpdate): number | undefined {
  const { hermes } = update._meta ?? {};
  if (typeof hermes !== "object" || hermes === null || !("durationMs" in hermes)) return undefined;
  return typeof hermes.durationMs === "number" && hermes.durationMs >= 0 ? hermes.durationMs : undefined;
}

function replaceEntry(state: PanelState, index: number, entry: Entry): PanelState {
  return { ...state, entries: state.entries.with(index, entry) };
}
