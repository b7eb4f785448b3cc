/** A page of earlier messages takes its place before what is shown. */
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { earlierOf } from "./earlier.ts";
import { announce, emptyState, type PanelState } from "./state.ts";
import { placeCutSummary } from "./summaries.ts";
import { sealOpen } from "./transcript.ts";
import { applyUpdate } from "./updates.ts";

/** One that nobody waits for any more, because messages were taken back meanwhile, is left out. */
export function addEarlierPage(
  state: PanelState,
  { before, updates, earlier }: Extract<PanelEvent, { kind: "earlier-page" }>,
  at: number,
): PanelState {
  if (earlierOf(state.earlier)?.before !== before) return state;
  const start: PanelState = { ...emptyState, nextKey: state.nextKey };
  const page = sealOpen(
    updates.reduce((shown, update) => applyUpdate(shown, update, at), start),
    at,
  );
  const next: PanelState = {
    ...state,
    nextKey: page.nextKey,
    entries: [...page.entries, ...state.entries],
    earlier: earlier === null ? { type: "none-left" } : { type: "there", ...earlier },
  };
  return announce(placeCutSummary(next), "Earlier messages are shown");
}
