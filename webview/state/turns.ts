/** The life of a turn: it begins with the user's prompt and ends with a reason. */
import type { StopReason } from "@zed-industries/agent-client-protocol";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { PanelState } from "./state.ts";
import { announce } from "./state.ts";
import { wholeText } from "./streamed-text.ts";
import { stopToolCalls } from "./tool-calls.ts";
import { addEntry, growText, sealOpen } from "./transcript.ts";

// A screen reader says the beginning of a reply; the rest is in the transcript.
const SPOKEN_CHARS = 600;

const stopWords: Record<StopReason, string | undefined> = {
  end_turn: undefined,
  cancelled: "Stopped",
  max_tokens: "Reached the model's output limit",
  max_turn_requests: "Reached the iteration limit",
  refusal: "The model refused to answer",
};

/** The user's own message: shown, and the turn runs from now on. `at`: clock, milliseconds. */
export function beginTurn(state: PanelState, text: string, at: number): PanelState {
  const planDone = state.plan.every((entry) => entry.status === "completed");
  const shown = sealOpen(growText(sealOpen(state, at), { type: "user", text, messageId: undefined }, at), at);
  const running = { ...shown, running: true, runningSince: at, plan: planDone ? [] : shown.plan };
  return announce(running, `${state.agentName} is working`);
}

/** Ends the turn: what still ran is stopped, and a reason other than the ordinary one gets its line. */
export function endTurn(state: PanelState, event: Extract<PanelEvent, { kind: "turn-end" }>, at: number): PanelState {
  const settled = stopToolCalls(sealOpen(state, at));
  const idle: PanelState = { ...settled, running: false, runningSince: undefined };
  if (event.error !== undefined) {
    return announce(
      addEntry(idle, { type: "turn-end", tone: "error", text: event.error }, at),
      `Error: ${event.error}`,
    );
  }
  const words = event.stopReason && stopWords[event.stopReason];
  if (words) return announce(addEntry(idle, { type: "turn-end", tone: "muted", text: words }, at), words);
  return announce(idle, `${idle.agentName} has finished. ${lastReply(idle)}`);
}

function lastReply(state: PanelState): string {
  const reply = state.entries.findLast((entry) => entry.type === "answer" || entry.type === "user");
  return reply?.type === "answer" ? wholeText(reply.text).slice(0, SPOKEN_CHARS) : "";
}
