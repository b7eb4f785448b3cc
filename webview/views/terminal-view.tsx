/** Live output of a command: in its tool card, and as runs of text with colours. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { CONTROL_CHARACTERS, ESCAPE_SEQUENCES } from "../../agent-core/platform/ansi.ts";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import { wholeText } from "../state/streamed-text.ts";
import { t } from "../texts.ts";
import { Button, Icon } from "./icon.tsx";
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        <pre class="terminal-output" dir="ltr" ref={output} tabIndex={0}>
          {ansiRuns(text).map(({ text: run, classes }, index) => (
            <span key={index} class={classes}>
              {run}
            </span>
          ))}
        </pre>
      )}
      <div class="terminal-foot">
        {terminal?.exit && <ExitBadge {...terminal.exit} />}
        <Button onClick={() => post({ type: "show-terminal", terminalId })}>
          <Icon name="terminal" /> {t("Show Terminal")}
        </Button>
      </div>
    </div>
  );
}

function ExitBadge({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }) {
  const good = exitCode === 0;
  const ended = exitCode === null ? t("ended") : t("exit code {0}", exitCode);
  return (
    <span class={`badge ${good ? "badge-good" : "badge-bad"}`}>
      {signal === null ? ended : t("ended by {0}", signal)}
    </span>
  );
}

export type AnsiRun = {
  readonly text: string;
  /** CSS classes: `ansi-red`, `ansi-bold` … */
  readonly classes: string;
};

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Private parameters, such as `>4;1m`, set no colour. */
const COLOUR_PARAMETERS = /^[0-9;:]*$/;

type Style = { readonly colour: string; readonly bold: boolean; readonly dim: boolean };

const PLAIN: Style = { colour: "", bold: false, dim: false };

/** Terminal output as runs of text with colours. All other escape sequences are dropped. */
export function ansiRuns(output: string): readonly AnsiRun[] {
  const runs: AnsiRun[] = [];
  let style = PLAIN;
  let from = 0;
  const add = (text: string): void => {
    if (text !== "") runs.push({ text: visible(text), classes: classesOf(style) });
  };
  for (const match of output.matchAll(ESCAPE_SEQUENCES)) {
    add(output.slice(from, match.index));
    from = match.index + match[0].length;
    const [, parameters = "", letter] = match;
    if (letter === "m" && COLOUR_PARAMETERS.test(parameters)) style = restyle(style, parameters);
  }
  add(output.slice(from));
  return runs;
}

/** A carriage return starts the line again: its last text remains. */
function visible(text: string): string {
  const printed = text
    .replace(/\r+\n/g, "\n")
    .replace(/^.*\r(?!\n|$)/gm, "")
    .replace(CONTROL_CHARACTERS, "");
  return containedText(printed);
}

function restyle(style: Style, parameters: string): Style {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let next = style;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    // 256 colours and true colour have no theme colour: their parameters are skipped.
    if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : 4;
    else next = apply(next, code);
  }
  return next;
}

function apply(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: "" };
  if (code >= 30 && code <= 37) return { ...style, colour: COLOURS[code - 30] ?? "" };
  if (code >= 90 && code <= 97) return { ...style, colour: `bright-${COLOURS[code - 90] ?? ""}` };
  return style;
}

function classesOf({ colour, bold, dim }: Style): string {
  return [colour && `ansi-${colour}`, bold && "ansi-bold", dim && "ansi-dim"].filter(Boolean).join(" ");
}
