/** Live output of a command in its tool card. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { wholeText } from "../state/streamed-text.ts";
import { ansiRuns } from "./ansi-runs.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** Length of the shown end; the terminal has all of it. Characters. */
const SHOWN_CHARS = 8_000;

export function TerminalView({ terminalId }: { readonly terminalId: string }) {
  const { store, post } = usePanel();
  const terminal = store.shown.value.terminals.get(terminalId);
  const text = terminal ? wholeText(terminal.text).slice(-SHOWN_CHARS) : "";
  const output = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (output.current !== null) output.current.scrollTop = output.current.scrollHeight;
  });
  return (
    <div class="terminal">
      {text !== "" && (
        <pre class="terminal-output" dir="ltr" ref={output}>
          {ansiRuns(text).map(({ text: run, classes }, index) => (
            <span key={index} class={classes}>
              {run}
            </span>
          ))}
        </pre>
      )}
      <div class="terminal-foot">
        {terminal?.exit && <ExitBadge {...terminal.exit} />}
        <button type="button" class="text-button" onClick={() => post({ type: "show-terminal", terminalId })}>
          <Icon name="terminal" /> Show terminal
        </button>
      </div>
    </div>
  );
}

function ExitBadge({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }) {
  const good = exitCode === 0;
  const ended = exitCode === null ? "ended" : `exit code ${exitCode}`;
  return (
    <span class={`badge ${good ? "badge-good" : "badge-bad"}`}>{signal === null ? ended : `ended by ${signal}`}</span>
  );
}
