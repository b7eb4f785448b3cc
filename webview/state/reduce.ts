/** The panel's behaviour as a pure reducer: the table has a handler for each kind of event. */
import type { HostMessage, PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { askForEarlier, failEarlier } from "./earlier.ts";
import { endAct, seeExtensions, withAct } from "./extensions.ts";
import { addRestored, previewRestore, rewindTo } from "./rewind.ts";
import { announce, type PanelState, type Route, withoutSession } from "./state.ts";
import { toggleSummary } from "./summaries.ts";
import { appendOutput, decideEdits, endTerminal } from "./tool-calls.ts";
import { addEntry, asBatch } from "./transcript.ts";
import { addPermission, addQuestion, beginTurn, endPermission, endQuestion, endTurn } from "./turns.ts";
import { addEarlierPage, applyUpdate } from "./updates.ts";
import { changeRoute, changeSearch, type SessionSearch, updateFacts, updateHistory } from "./workspace.ts";

/** Messages of the host that the state takes as they are. */
type StateMessage = Extract<HostMessage, { readonly type: "facts" | "history" | "context" | "extension-acted" }>;

/** Events of the panel itself. */
type LocalEvent =
  | { readonly kind: "history-search"; readonly search: Partial<SessionSearch> }
  | { readonly kind: "route"; readonly route: Partial<Route> }
  /** The panel asked for an action on an extension. */
  | { readonly kind: "extension-asked"; readonly id: string }
  /** The user has seen these extensions in need of attention, by their `attentionKey`. */
  | { readonly kind: "extensions-seen"; readonly keys: readonly string[] }
  /** The panel asked for the messages before this position. */
  | { readonly kind: "earlier-asked"; readonly before: number }
  /** The user continues to plan. */
  | { readonly kind: "keep-planning" }
  /** Shows or folds the messages under a summary. */
  | { readonly kind: "toggle-summary"; readonly key: string };

export type StateEvent = PanelEvent | LocalEvent | StateMessage;
type Handlers = {
  readonly [K in (PanelEvent | LocalEvent)["kind"] | StateMessage["type"]]: (
    state: PanelState,
    event: Extract<StateEvent, { readonly kind: K } | { readonly type: K }>,
    at: number,
  ) => PanelState;
};

const handlers: Handlers = {
  session: (state, event) => ({
    ...withoutSession(state),
    route: state.route.isOpening
      ? { ...state.route, sessions: false, extensions: false, task: undefined, isOpening: false }
      : { ...state.route, task: undefined },
    sessionId: event.sessionId,
    agentName: event.agentName,
    isForeign: event.isForeign === true,
    configOptions: event.configOptions,
    commands: event.commands,
  }),
  facts: updateFacts,
  route: changeRoute,
  history: updateHistory,
  "history-search": changeSearch,
  context: (state, { sessionId, context }) => (sessionId === state.sessionId ? { ...state, context } : state),
  "extension-asked": (state, { id }) => withAct(state, id, { isRunning: true }),
  "extension-acted": endAct,
  "extensions-seen": seeExtensions,
  // A message closes any open page.
  prompt: (state, event, at) =>
    beginTurn(
      {
        ...state,
        route: { ...state.route, sessions: false, extensions: false, setup: false, task: undefined },
        restore: undefined,
      },
      event,
      at,
    ),
  update: (state, event, at) => applyUpdate(state, event.update, at),
  "earlier-asked": askForEarlier,
  "earlier-page": addEarlierPage,
  "earlier-failed": failEarlier,
  "turn-end": endTurn,
  reviewed: decideEdits,
  interrupted: (state) => ({ ...state, paused: state.paused ?? "turn" }),
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
  "keep-planning": (state) => ({ ...state, hasPlan: false }),
  "toggle-summary": (state, { key }) => toggleSummary(state, key),
  worktree: (state, { name }) => ({ ...state, worktree: name }),
  notice: (state, { severity, text }, at) => announce(addEntry(state, { type: "notice", severity, text }, at), text),
};

/** The state after `event`. Unknown events change nothing. `at`: clock, milliseconds. */
export function reduce(state: PanelState, event: StateEvent, at: number): PanelState {
  // The type checks the table entry by entry; TypeScript cannot relate the key to its handler here.
  const name = "kind" in event ? event.kind : event.type;
  const handle = Object.hasOwn(handlers, name)
    ? (handlers[name] as (state: PanelState, event: StateEvent, at: number) => PanelState)
    : undefined;
  return handle ? handle(state, event, at) : state;
}

/** The state after all of `events`. The cost of an event does not grow with the length of a replay. */
export function reduceAll(state: PanelState, events: readonly StateEvent[], at: number): PanelState {
  return asBatch(() => events.reduce((before, event) => reduce(before, event, at), state));
}
