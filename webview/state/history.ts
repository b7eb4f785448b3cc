/** The page with the stored sessions over time. */
import type { PanelEvent } from "../panel-protocol.ts";
import { announce, type PanelState } from "./state.ts";

type Event<Kind extends PanelEvent["kind"]> = Extract<PanelEvent, { kind: Kind }>;

export function showHistory(state: PanelState, { page }: Event<"history">): PanelState {
  const next: PanelState = { ...state, history: page ?? undefined };
  if (page === null || page.isLoading) return next;
  const count = `${page.sessions.length}${page.hasMore ? " or more" : ""}`;
  return announce(next, page.error ?? (page.sessions.length === 0 ? "No sessions" : `${count} sessions`));
}

/** The sessions that are shown already stay the same objects: their rows need not be drawn again. */
export function addToHistory(state: PanelState, { sessions, hasMore }: Event<"history-next">): PanelState {
  const { history } = state;
  if (history === undefined) return state;
  const known = new Set(history.sessions.map(({ sessionId }) => sessionId));
  const added = sessions.filter(({ sessionId }) => !known.has(sessionId));
  const all = [...history.sessions, ...added];
  const next: PanelState = { ...state, history: { ...history, sessions: all, hasMore, isLoading: false } };
  return announce(next, `${all.length}${hasMore ? " or more" : ""} sessions`);
}

export function buildHistory(state: PanelState, { building }: Event<"history-building">): PanelState {
  if (state.history === undefined) return state;
  const { building: _, ...history } = state.history;
  return { ...state, history: { ...history, ...(building && { building }) } };
}
