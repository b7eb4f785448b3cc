/** Background processes of the session: one line above the composer that unfolds to a list. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ASKS_FOR_SECRET } from "../../agent-core/platform/ansi.ts";
import type { HermesProcess } from "../../agent-core/protocol/processes.ts";
import type { TerminalState } from "../state/state.ts";
import { lastLine, processesOf } from "../state/workspace.ts";
import { t } from "../texts.ts";
import { Elapsed } from "./elapsed.tsx";
import { FoldHead, useOpen } from "./fold.tsx";
import { Button, Icon, IconButton } from "./icon.tsx";
import { onSubmit } from "./keys.ts";
import { usePanel } from "./panel-context.ts";
import { ansiRuns, TerminalView } from "./terminal-view.tsx";

/** Name of the panel's memory for the open strip. */
const FOLD_ID = "processes";

/** The process whose output is shown; `reply` changes with each request to focus its input. */
type Shown = { readonly id: string | undefined; readonly reply: number };

export function ProcessStrip() {
  const processes = processesOf(usePanel().store.shown.value);
  const [isOpen, setOpen] = useOpen(FOLD_ID, false);
  const [shown, show] = useState<Shown>({ id: undefined, reply: 0 });
  if (processes.length === 0) return null;
  const open = (next: boolean): void => {
    setOpen(next);
    const [only] = processes;
    if (next && processes.length === 1 && only) show({ id: only.id, reply: 0 });
  };
  const waiting = processes.find(({ state }) => state === "waits-for-input");
  const reply = (id: string): void => {
    open(true);
    show(({ reply: before }) => ({ id, reply: before + 1 }));
  };
  return (
    <section class="processes" aria-label={t("Background processes")}>
      <div class="process-row">
        <FoldHead isOpen={isOpen} onToggle={() => open(!isOpen)}>
          <Summary processes={processes} isOpen={isOpen} />
        </FoldHead>
        {waiting && !(isOpen && shown.id === waiting.id) && (
          <Button kind="primary" isSmall onClick={() => reply(waiting.id)}>
            {t("Reply")}
          </Button>
        )}
      </div>
      {isOpen && (
        <ul class="process-list">
          {processes.map((process) => (
            <ProcessRow
              key={process.id}
              process={process}
              isShown={shown.id === process.id}
              reply={shown.reply}
              onToggle={() => show({ id: shown.id === process.id ? undefined : process.id, reply: 0 })}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

type SummaryProps = { readonly processes: readonly HermesProcess[]; readonly isOpen: boolean };

function Summary({ processes, isOpen }: SummaryProps) {
  const { store } = usePanel();
  const [first] = processes;
  const only = processes.length === 1 && !isOpen ? first : undefined;
  const isWaiting = processes.some(({ state }) => state === "waits-for-input");
  const line = only?.state === "running" ? lastLineOf(only, store.shown.value.terminals) : "";
  return (
    <>
      <Icon name={isWaiting ? "question" : "server-process"} />
      <span class={isWaiting && !isOpen ? "tool-title process-waiting" : "tool-title"}>
        {isOpen ? openTitle(processes) : foldedTitle(processes)}
      </span>
      {line !== "" && <span class="process-last process-beside">{line}</span>}
      {only && only.state !== "ended" && <Elapsed since={only.startedAt} />}
    </>
  );
}

function foldedTitle(processes: readonly HermesProcess[]): string {
  const waiting = processes.filter(({ state }) => state === "waits-for-input");
  const [first] = waiting;
  if (first !== undefined) {
    return waiting.length === 1 ? t("Waits for input: {0}", first.command) : t("{0} wait for input", waiting.length);
  }
  const [only] = processes;
  if (only === undefined || processes.length > 1) return openTitle(processes);
  return only.state === "ended" ? t("Ended: {0}", only.command) : only.command;
}

function openTitle(processes: readonly HermesProcess[]): string {
  const ended = processes.filter(({ state }) => state === "ended").length;
  const words = [
    ...(processes.length > ended ? [t("{0} in the background", processes.length - ended)] : []),
    ...(ended > 0 ? [t("{0} ended", ended)] : []),
  ];
  return words.join(", ");
}

type RowProps = {
  readonly process: HermesProcess;
  readonly isShown: boolean;
  readonly reply: number;
  readonly onToggle: () => void;
};

function ProcessRow({ process, isShown, reply, onToggle }: RowProps) {
  const { store, post } = usePanel();
  const { id, command, state, startedAt, note } = process;
  const line = lastLineOf(process, store.shown.value.terminals);
  const stop = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    // The button disappears with the process: the focus stays in the row.
    currentTarget.closest(".process-row")?.querySelector("button")?.focus();
    post({ type: "process-stop", id });
  };
  return (
    <li data-process={id} data-state={state}>
      <div class="process-row">
        <FoldHead isOpen={isShown} title={command} onToggle={onToggle}>
          <Icon name={ICONS[state]} />
          <span class="tool-title">{command}</span>
          <span class={state === "waits-for-input" ? "process-waiting" : "process-note"}>
            {state === "running" ? <Elapsed since={startedAt} /> : STATE_LABELS[state]}
          </span>
        </FoldHead>
        {state !== "ended" && (
          <IconButton icon="debug-stop" name={t("Stop {0}", command)} title={t("Stop")} act={stop} />
        )}
      </div>
      {state === "ended" && <div class="process-note process-line">{note}</div>}
      {!isShown && state !== "ended" && line !== "" && <div class="process-last process-line">{line}</div>}
      {isShown && <ProcessBody process={process} reply={reply} />}
    </li>
  );
}

const ICONS: Readonly<Record<HermesProcess["state"], string>> = {
  running: "server-process",
  "waits-for-input": "question",
  "left-behind": "server-process",
  ended: "circle-slash",
};

const STATE_LABELS = { "waits-for-input": t("waits for input"), "left-behind": t("left running"), ended: "" } as const;

/** Last line of the output as plain text. */
function lastLineOf({ terminalId }: HermesProcess, terminals: ReadonlyMap<string, TerminalState>): string {
  const terminal = terminalId === undefined ? undefined : terminals.get(terminalId);
  if (terminal === undefined) return "";
  return ansiRuns(lastLine(terminal.text))
    .map(({ text }) => text)
    .join("")
    .trim();
}

type ProcessBodyProps = {
  readonly process: HermesProcess;
  /** Each change focuses the input, except to 0. */
  readonly reply: number;
};

/** Output of a process, and a line to type into it. */
function ProcessBody({ process, reply }: ProcessBodyProps) {
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
    "aria-label": t("Input for {0}", command),
    placeholder: state === "waits-for-input" ? t("Waiting for input") : t("Type a line"),
    value: text,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => setText(event.currentTarget.value),
  } as const;
  return (
    <form
      class="process-input"
      onSubmit={onSubmit(() => {
        post({ type: "process-input", id, text: `${text}\n` });
        setText("");
      })}
    >
      {isSecret ? <input type="password" {...field} /> : <input type="text" {...field} />}
      <Button type="submit" kind="secondary" isSmall>
        {t("Send")}
      </Button>
    </form>
  );
}
