/** Earlier messages of a session that the panel loaded from its end. */
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { HermesEarlier } from "../../agent-core/protocol/sessions.ts";
import { t } from "../texts.ts";
import { announce, type EarlierState, type PanelState } from "./state.ts";

/** The part that the panel does not have; undefined when it has all. */
export function earlierOf(state: EarlierState | undefined): HermesEarlier | undefined {
  return state === undefined || state.type === "none-left" ? undefined : state;
}

type Failed = Extract<PanelEvent, { kind: "earlier-failed" }>;

export function askForEarlier(state: PanelState, { before }: { readonly before: number }): PanelState {
  const earlier = earlierOf(state.earlier);
  if (earlier?.before !== before) return state;
  const { messages } = earlier;
  return { ...state, earlier: { type: "loading", before, messages } };
}

export function failEarlier(state: PanelState, { before, message }: Failed): PanelState {
  const earlier = earlierOf(state.earlier);
  if (earlier?.before !== before) return state;
  const { messages } = earlier;
  const next: PanelState = { ...state, earlier: { type: "failed", before, messages, problem: message } };
  return announce(next, t("Earlier messages could not be loaded: {0}", message));
}
