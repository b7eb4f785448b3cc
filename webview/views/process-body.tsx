/** A background process opened: the end of its output, and a line to type into it. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { HermesProcess } from "../../agent-core/protocol/processes.ts";
import { ASKS_FOR_SECRET } from "../../agent-core/protocol/secret-prompt.ts";
import type { TerminalState } from "../state/state.ts";
import { lastLine } from "../state/workspace.ts";
import { ansiRuns } from "../terminal/ansi.ts";
import { usePanel } from "./panel-context.ts";
import { TerminalView } from "./terminal-view.tsx";

/** What it printed last, as plain text; empty when that was nothing. */
export function lastLineOf({ terminalId }: HermesProcess, terminals: ReadonlyMap<string, TerminalState>): string {
  const terminal = terminalId === undefined ? undefined : terminals.get(terminalId);
  if (terminal === undefined) return "";
  return ansiRuns(lastLine(terminal.text))
    .map(({ text }) => text)
    .join("")
    .trim();
}

export type ProcessBodyProps = {
  readonly process: HermesProcess;
  /** The caret goes into the input line whenever this changes, but for 0. */
  readonly reply: number;
};

export function ProcessBody({ process, reply }: ProcessBodyProps) {
  const { terminalId, state } = process;
  return (
    <div class="process-body">
      {terminalId !== undefined && <TerminalView terminalId={terminalId} />}
      {(state === "running" || state === "waits-for-input") && <InputLine process={process} reply={reply} />}
    </div>
  );
}

function InputLine({ process, reply }: ProcessBodyProps) {
  const { store, post } = usePanel();
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (reply > 0) input.current?.focus();
  }, [reply]);
  const { id, command, state } = process;
  const isSecret =
    state === "waits-for-input" && ASKS_FOR_SECRET.test(lastLineOf(process, store.shown.value.terminals));
  const field = {
    ref: input,
    autocomplete: "off",
    spellcheck: false,
    "aria-label": `Input for ${command}`,
    placeholder: state === "waits-for-input" ? "It waits for input" : "Type a line",
    value: text,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => setText(event.currentTarget.value),
  } as const;
  return (
    <form
      class="process-input"
      onSubmit={(event) => {
        event.preventDefault();
        post({ type: "process-input", id, text: `${text}\n` });
        setText("");
      }}
    >
      {isSecret ? <input type="password" {...field} /> : <input type="text" {...field} />}
      <button type="submit" class="button button-small button-secondary">
        Send
      </button>
    </form>
  );
}
