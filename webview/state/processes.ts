/** What runs in the background of the session. */
import type { PanelEvent, PanelProcess } from "../panel-protocol.ts";
import { announce, type PanelState } from "./state.ts";
import { type StreamedText, textFrom } from "./streamed-text.ts";

/** Looked through for the last line. Characters. */
const TAIL_CHARS = 2_000;

/** Takes over the new list; what has come to wait for input or to its end is said. */
export function showProcesses(state: PanelState, event: Extract<PanelEvent, { kind: "processes" }>): PanelState {
  const known = new Map(state.processes.map(({ id, state: was }) => [id, was]));
  const words = event.processes.filter((process) => known.get(process.id) !== process.state).flatMap(news);
  const next: PanelState = { ...state, processes: event.processes };
  return words.length === 0 ? next : announce(next, words.join(". "));
}

function news({ command, state, note }: PanelProcess): readonly string[] {
  if (state === "waits-for-input") return [`${command} waits for input`];
  return state === "ended" ? [`${command} has ended: ${note ?? ""}`] : [];
}

/** The last line of an output that says anything; escape sequences included. */
export function lastLine(text: StreamedText): string {
  const lines = textFrom(text, text.length - TAIL_CHARS).split("\n");
  return lines.findLast((line) => line.trim() !== "") ?? "";
}
