/** Updates of the list of stored sessions. */
import type { HistoryUpdate } from "../../agent-core/protocol/panel-events.ts";
import { announce, type PanelState } from "./state.ts";

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

function replacePage(state: PanelState, { page }: Update<"page">): PanelState {
  const next: PanelState = { ...state, history: page };
  if (page.isLoading) return next;
  const count = `${page.sessions.length}${page.hasMore ? " or more" : ""}`;
  return announce(next, page.error ?? (page.sessions.length === 0 ? "No sessions" : `${count} sessions`));
}

/** Sessions already listed keep their objects, so that their rows are not drawn again. */
function appendSessions(state: PanelState, { sessions, hasMore }: Update<"next">): PanelState {
  const { history } = state;
  if (history === undefined) return state;
  const known = new Set(history.sessions.map(({ sessionId }) => sessionId));
  const added = sessions.filter(({ sessionId }) => !known.has(sessionId));
  const all = [...history.sessions, ...added];
  const next: PanelState = { ...state, history: { ...history, sessions: all, hasMore, isLoading: false } };
  return announce(next, `${all.length}${hasMore ? " or more" : ""} sessions`);
}

function showProgress(state: PanelState, { building }: Update<"building">): PanelState {
  if (state.history === undefined) return state;
  const { building: _, ...history } = state.history;
  return { ...state, history: { ...history, ...(building && { building }) } };
}
