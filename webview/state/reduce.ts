/** The panel's whole behaviour over time: events in, state out. Pure; the clock comes in as a number. */
import type { PanelEvent } from "../panel-protocol.ts";
import { asBatch } from "./batch.ts";
import { askForEarlier, failEarlier } from "./earlier.ts";
import { addEarlierPage } from "./earlier-page.ts";
import { addToHistory, buildHistory, showHistory } from "./history.ts";
import { showProcesses } from "./processes.ts";
import { addPermission, addQuestion, endPermission, endQuestion } from "./requests.ts";
import { addRestored, previewRestore } from "./restore.ts";
import { rewindTo } from "./rewind.ts";
import type { PanelState } from "./state.ts";
import { announce, emptyState } from "./state.ts";
import { toggleSummary } from "./summaries.ts";
import { appendOutput, endTerminal } from "./terminals.ts";
import { addEntry } from "./transcript.ts";
import { beginTurn, endTurn } from "./turns.ts";
import { applyUpdate } from "./updates.ts";

type EventKind = PanelEvent["kind"];
type Handlers = {
  readonly [K in EventKind]: (state: PanelState, event: Extract<PanelEvent, { kind: K }>, at: number) => PanelState;
};

const handlers: Handlers = {
  session: (state, event) => ({
    ...emptyState,
    agent: state.agent,
    announcement: state.announcement,
    wishes: state.wishes,
    sessionId: event.sessionId,
    agentName: event.agentName,
    configOptions: event.configOptions,
    commands: event.commands,
  }),
  agent: (state, { state: life, message }) => {
    const next: PanelState = { ...state, agent: { state: life, message } };
    if (life === "failed") return announce(next, message ?? "The agent has stopped");
    return life === "restarting" ? announce(next, "The agent is restarting") : next;
  },
  trust: (state, { isTrusted }) => ({ ...state, isTrusted }),
  // Who writes a message has something to write to.
  prompt: (state, event, at) =>
    beginTurn({ ...state, setup: undefined, history: undefined, restore: undefined }, event.text, at),
  setup: (state, { page }) => {
    const next: PanelState = { ...state, setup: page ?? undefined };
    return page === null ? next : announce(next, "Choose which model answers");
  },
  history: showHistory,
  "history-next": addToHistory,
  "history-building": buildHistory,
  update: (state, event, at) => applyUpdate(state, event.update, at),
  "earlier-asked": askForEarlier,
  "earlier-page": addEarlierPage,
  "earlier-failed": failEarlier,
  "turn-end": endTurn,
  rewind: (state, { position }, at) => rewindTo(state, position, at),
  "restore-preview": previewRestore,
  restored: addRestored,
  "terminal-output": (state, event) => appendOutput(state, event.terminalId, event.text),
  "terminal-exit": (state, { terminalId, exitCode, signal }) => endTerminal(state, terminalId, { exitCode, signal }),
  permission: addPermission,
  "permission-end": (state, event) => endPermission(state, event.requestId, event.label),
  question: addQuestion,
  "question-end": (state, event, at) => endQuestion(state, event.requestId, event.label, at),
  queue: (state, event) => ({ ...state, queue: event.prompts }),
  processes: showProcesses,
  review: (state, event) => ({ ...state, review: event.files }),
  "toggle-summary": (state, { key }) => toggleSummary(state, key),
  notice: (state, { severity, text }, at) => announce(addEntry(state, { type: "notice", severity, text }, at), text),
  compose: (state, { id, text }) => ({ ...state, wishes: [...state.wishes, { id, text }] }),
};

/** The state after `event`. Events that this panel does not know change nothing. `at`: clock, milliseconds. */
export function reduce(state: PanelState, event: PanelEvent, at: number): PanelState {
  // The table is checked entry by entry above; TypeScript cannot relate the key to its handler here.
  const handle = Object.hasOwn(handlers, event.kind)
    ? (handlers[event.kind] as (state: PanelState, event: PanelEvent, at: number) => PanelState)
    : undefined;
  return handle ? handle(state, event, at) : state;
}

/** The state after all of `events`; a long replay costs no more for each of its events than a short one. */
export function reduceAll(state: PanelState, events: readonly PanelEvent[], at: number): PanelState {
  return asBatch(() => events.reduce((before, event) => reduce(before, event, at), state));
}
