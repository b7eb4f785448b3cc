/** Tool calls and the terminals in their cards. An update holds only the changed fields of a call. */
import type { ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { ourMeta } from "./agent-meta.ts";
import { cancelTasks, newTasks, taskNews } from "./delegation.ts";
import { findNested, mapNested, withNested } from "./nested-calls.ts";
import { announce, type CallParent, type Entry, type PanelState, type TerminalState, type ToolEntry } from "./state.ts";
import { appendText, emptyText, keepEnd } from "./streamed-text.ts";
import { indexOfCall, ownCopy, sealOpen, withChanged, withEntry } from "./transcript.ts";

/** True for a tool whose writes later sessions see. Its card has an undo. */
function isKnowledgeTool({ name }: ToolCallUpdate): boolean {
  return name === "memory" || name === "skill_manage";
}

/** Merges `update` into its call, or adds a card for a new call. `at`: clock, milliseconds. */
export function upsertToolCall(state: PanelState, update: ToolCallUpdate, at: number): PanelState {
  const index = indexOfCall(state.entries, update.toolCallId);
  const known = index === undefined ? undefined : state.entries[index];
  if (index !== undefined && known?.type === "tool") {
    const card = merge(known, update, at);
    const news = card.tasks && state.running ? taskNews(known.tasks ?? [], card.tasks) : undefined;
    const next = { ...state, entries: withChanged(state.entries, index, card) };
    return news === undefined ? next : announce(next, news);
  }
  const parent = state.nestedCalls.parents.get(update.toolCallId) ?? parentOf(update);
  if (parent !== undefined) return upsertNested(state, parent, { update, at });
  const sealed = sealOpen(state, at);
  const card = merge(newCard(sealed, update, at), update, at);
  return { ...sealed, nextKey: sealed.nextKey + 1, entries: withEntry(sealed.entries, card) };
}

function parentOf({ _meta: meta }: ToolCallUpdate): CallParent | undefined {
  const { parentToolCallId: callId, taskId } = ourMeta(meta);
  return callId === undefined ? undefined : { callId, taskId };
}

type Arrival = { readonly update: ToolCallUpdate; readonly at: number };

function upsertNested(state: PanelState, parent: CallParent, { update, at }: Arrival): PanelState {
  const known = findNested(state.nestedCalls, update.toolCallId);
  const card = merge(known ?? newCard(state, update, at), update, at);
  const nextKey = known === undefined ? state.nextKey + 1 : state.nextKey;
  return { ...state, nextKey, nestedCalls: withNested(state.nestedCalls, parent, card) };
}

function newCard({ nextKey, running }: PanelState, { toolCallId }: ToolCallUpdate, at: number): ToolEntry {
  return {
    type: "tool",
    key: `e${nextKey}`,
    id: toolCallId,
    title: "",
    kind: "other",
    status: "pending",
    content: [],
    locations: [],
    rawInput: undefined,
    startedAt: running ? at : undefined,
    durationMs: undefined,
    hooks: [],
    isMemory: false,
    waiting: false,
    isRejected: false,
    name: undefined,
    decisions: {},
    tasks: undefined,
  };
}

/** Notes the user's decision in the cards of the edits that it is about. */
export function decideEdits(state: PanelState, event: Extract<PanelEvent, { kind: "reviewed" }>): PanelState {
  const decide = <T extends Entry>(entry: T): T => (entry.type === "tool" ? decided(entry, event) : entry) as T;
  return { ...state, entries: state.entries.map(decide), nestedCalls: mapNested(state.nestedCalls, decide) };
}

function decided(card: ToolEntry, { path, outcome }: Extract<PanelEvent, { kind: "reviewed" }>): ToolEntry {
  const { [path]: known, ...others } = card.decisions;
  const isEdited =
    card.status === "completed" && card.content.some((part) => part.type === "diff" && part.path === path);
  if (!isEdited || (known === undefined ? outcome === "redone" : known !== "undone")) return card;
  if (outcome === "redone") return { ...card, decisions: others };
  return { ...card, decisions: { ...others, [path]: known === undefined ? outcome : "discarded" } };
}

/** True after the undo of all its edits. */
export function isUndone({ content, decisions }: ToolEntry): boolean {
  const edits = content.filter((part) => part.type === "diff");
  return edits.length > 0 && edits.every(({ path }) => /undone|discarded/.test(decisions[path] ?? ""));
}

/** Without effect when the call is not in the list. */
export function changeToolCall(state: PanelState, id: string, change: Partial<ToolEntry>): PanelState {
  const index = indexOfCall(state.entries, id);
  const known = index === undefined ? undefined : state.entries[index];
  if (index !== undefined && known?.type === "tool") {
    return { ...state, entries: withChanged(state.entries, index, { ...known, ...change }) };
  }
  const nested = findNested(state.nestedCalls, id);
  const parent = state.nestedCalls.parents.get(id);
  if (nested === undefined || parent === undefined) return state;
  return { ...state, nestedCalls: withNested(state.nestedCalls, parent, { ...nested, ...change }) };
}

/** Marks unfinished calls as stopped, because their turn has ended. */
export function stopToolCalls(state: PanelState): PanelState {
  const nestedCalls = mapNested(state.nestedCalls, (call) => (isUnfinished(call) ? stopped(call) : call));
  if (!state.entries.some(isUnfinished)) return nestedCalls === state.nestedCalls ? state : { ...state, nestedCalls };
  const entries = state.entries.map((entry): Entry => (isUnfinished(entry) ? stopped(entry) : entry));
  return { ...state, entries, nestedCalls };
}

function stopped(call: ToolEntry): ToolEntry {
  return { ...call, status: "stopped", waiting: false, tasks: call.tasks && cancelTasks(call.tasks) };
}

export function isUnfinished(entry: Entry): entry is ToolEntry {
  return entry.type === "tool" && (entry.status === "pending" || entry.status === "in_progress");
}

function merge(card: ToolEntry, update: ToolCallUpdate, at: number): ToolEntry {
  const status = update.status ?? card.status;
  const { tasks, hooks, rejected, decisions = card.decisions } = ourMeta(update._meta);
  return {
    ...card,
    status,
    ...timesOf(card, update, at),
    title: update.title ?? card.title,
    name: update.name ?? card.name,
    tasks: tasks === undefined ? card.tasks : newTasks(tasks, card.tasks),
    isMemory: card.isMemory || isKnowledgeTool(update),
    kind: update.kind ?? card.kind,
    content: update.content ?? card.content,
    locations: update.locations ?? card.locations,
    rawInput: update.rawInput ?? card.rawInput,
    hooks: hooks ?? card.hooks,
    isRejected: card.isRejected || rejected === true,
    decisions,
  };
}

function timesOf(card: ToolEntry, update: ToolCallUpdate, at: number): Pick<ToolEntry, "startedAt" | "durationMs"> {
  const status = update.status ?? card.status;
  const ended = status === "completed" || status === "failed";
  const measured = ended && card.startedAt !== undefined ? at - card.startedAt : undefined;
  const begins = status === "in_progress" && card.status === "pending" && card.startedAt !== undefined;
  return {
    // The wait for a permission does not count.
    startedAt: begins ? at : card.startedAt,
    durationMs: ourMeta(update._meta).durationMs ?? card.durationMs ?? measured,
  };
}

/** Limit of a command's output: the panel shows its end, and VS Code's own terminal all of it. Characters. */
const MAX_OUTPUT_CHARS = 400_000;

/** Appends output and drops its beginning past the limit. */
export function appendOutput(state: PanelState, terminalId: string, text: string): PanelState {
  const known = state.terminals.get(terminalId) ?? { text: emptyText, exit: undefined };
  return withTerminal(state, terminalId, { ...known, text: keepEnd(appendText(known.text, text), MAX_OUTPUT_CHARS) });
}

export function endTerminal(
  state: PanelState,
  terminalId: string,
  exit: NonNullable<TerminalState["exit"]>,
): PanelState {
  const known = state.terminals.get(terminalId) ?? { text: emptyText, exit: undefined };
  return withTerminal(state, terminalId, { ...known, exit });
}

function withTerminal(state: PanelState, terminalId: string, terminal: TerminalState): PanelState {
  const terminals = ownCopy(state.terminals, (shared) => new Map(shared));
  terminals.set(terminalId, terminal);
  return { ...state, terminals };
}
