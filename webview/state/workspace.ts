/** State that outlives a change of session: facts of the workspace, the page shown, the list of sessions. */
import { INITIAL_HISTORY } from "../../agent-core/protocol/initial-facts.ts";
import type { HistoryPage, HistoryUpdate, WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import type { HermesProcess } from "../../agent-core/protocol/processes.ts";
import { t } from "../texts.ts";
import { extensionNews } from "./extensions.ts";
import { announce, type PanelState, type Route } from "./state.ts";
import { type StreamedText, textFrom } from "./streamed-text.ts";

/** Length of the tail that is searched for the last line. Characters. */
const TAIL_CHARS = 2_000;

/** Takes over the facts and announces changes that need the user's attention. */
export function updateFacts(state: PanelState, { facts }: { readonly facts: WorkspaceFacts }): PanelState {
  const before = state.facts;
  const route = facts.setup === null ? { ...state.route, setup: false } : state.route;
  const next: PanelState = { ...state, facts, route };
  const news = [
    ...(facts.agent.state === before.agent.state ? [] : agentNews(facts.agent)),
    ...processNews(processesOf(state), processesOf(next)),
    ...extensionNews(state, next),
    ...(facts.learnt === null || facts.learnt.message === before.learnt?.message ? [] : [facts.learnt.message]),
  ];
  return news.length === 0 ? next : announce(next, news.join(". "));
}

export function changeRoute(state: PanelState, { route }: { readonly route: Partial<Route> }): PanelState {
  // The list opens without the query and the results of the last time.
  const history = route.sessions === true && !state.route.sessions ? INITIAL_HISTORY : state.history;
  const next: PanelState = { ...state, route: { ...state.route, ...route }, history };
  return route.setup === true ? announce(next, t("Choose which model answers")) : next;
}

/** Background processes of the session shown. */
export function processesOf({ facts, sessionId }: PanelState): readonly HermesProcess[] {
  return facts.processes.find((entry) => entry.sessionId === sessionId)?.processes ?? NONE;
}

/** The last line of `text` that is not blank, escape sequences included. */
export function lastLine(text: StreamedText): string {
  const lines = textFrom(text, text.length - TAIL_CHARS).split("\n");
  return lines.findLast((line) => line.trim() !== "") ?? "";
}

const NONE: readonly HermesProcess[] = [];

function agentNews({ state, message }: WorkspaceFacts["agent"]): readonly string[] {
  if (state === "failed") return [message ?? t("The agent has stopped")];
  return state === "restarting" ? [t("The agent is restarting")] : [];
}

function processNews(before: readonly HermesProcess[], now: readonly HermesProcess[]): readonly string[] {
  const known = new Map(before.map(({ id, state }) => [id, state]));
  return now.flatMap(({ id, command, state, note }) => {
    if (known.get(id) === state) return [];
    if (state === "waits-for-input") return [t("{0} waits for input", command)];
    return state === "ended" ? [t("{0} has ended: {1}", command, note ?? "")] : [];
  });
}

/** Choice of the sessions in the list. */
export type SessionSearch = Pick<HistoryPage, "query" | "everywhere" | "isArchive">;

/** The rows of the last search stay until those of this one are there. */
export function changeSearch(state: PanelState, { search }: { readonly search: Partial<SessionSearch> }): PanelState {
  return { ...state, history: { ...state.history, ...search, isLoading: true } };
}

export function updateHistory(state: PanelState, { update }: { readonly update: HistoryUpdate }): PanelState {
  switch (update.kind) {
    case "page":
      return replacePage(state, update);
    case "next":
      return appendSessions(state, update);
    case "building":
      return showProgress(state, update);
  }
}

type Update<Kind extends HistoryUpdate["kind"]> = Extract<HistoryUpdate, { kind: Kind }>;

/** A page of an earlier search is dropped. */
function replacePage(state: PanelState, { page }: Update<"page">): PanelState {
  const { query, everywhere, isArchive } = state.history;
  if (page.query !== query || page.everywhere !== everywhere || page.isArchive !== isArchive) return state;
  const next: PanelState = { ...state, history: page };
  if (page.isLoading) return next;
  return announce(next, page.error ?? sessionCount(page));
}

/** Sessions already listed keep their objects, so that their rows are not drawn again. */
function appendSessions(state: PanelState, { sessions, hasMore }: Update<"next">): PanelState {
  const { history } = state;
  const known = new Set(history.sessions.map(({ sessionId }) => sessionId));
  const added = sessions.filter(({ sessionId }) => !known.has(sessionId));
  const all = [...history.sessions, ...added];
  const next: PanelState = { ...state, history: { ...history, sessions: all, hasMore, isLoading: false } };
  return announce(next, sessionCount({ sessions: all, hasMore }));
}

function sessionCount({ sessions, hasMore }: Pick<HistoryPage, "sessions" | "hasMore">): string {
  if (hasMore) return t("{0} or more sessions", sessions.length);
  if (sessions.length === 0) return t("No sessions");
  return sessions.length === 1 ? t("1 session") : t("{0} sessions", sessions.length);
}

function showProgress(state: PanelState, { building }: Update<"building">): PanelState {
  const { building: _, ...history } = state.history;
  return { ...state, history: { ...history, ...(building && { building }) } };
}
