/** Live output of the terminals that tool calls show. */
import { ownCopy } from "./batch.ts";
import type { PanelState, TerminalState } from "./state.ts";
import { appendText, emptyText, keepEnd } from "./streamed-text.ts";

// The panel shows the end of long output; the whole of it is in VS Code's own terminal.
const MAX_OUTPUT_CHARS = 400_000;

/** Adds output; the beginning is dropped past 400,000 characters. */
export function appendOutput(state: PanelState, terminalId: string, text: string): PanelState {
  const known = state.terminals.get(terminalId) ?? { text: emptyText, exit: undefined };
  return withTerminal(state, terminalId, { ...known, text: keepEnd(appendText(known.text, text), MAX_OUTPUT_CHARS) });
}

/** Records how the program ended. */
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
