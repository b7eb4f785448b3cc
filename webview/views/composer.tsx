/** The composer: writes prompts, completes slash commands, sends and stops. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ContextPressure } from "../state/agent-meta.ts";
import type { UsageState } from "../state/state.ts";
import { ConfigPicker } from "./config-picker.tsx";
import { Icon } from "./icon.tsx";
import { useAutoHeight } from "./inline-editor.tsx";
import { usePanel } from "./panel-context.ts";
import { placeAbove } from "./place-above.ts";
import { formatCount } from "./words.ts";

export function Composer() {
  const panel = usePanel();
  const { store, post } = panel;
  const { running, commands, agentName, queue } = store.shown.value;
  const draft = panel.draft.value;
  const focusRequests = panel.composerFocus.value;
  const [chosen, choose] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (text: string): void => {
    panel.write(text);
    choose(0);
  };
  useLayoutEffect(() => {
    if (focusRequests > 0) field.current?.focus();
  }, [focusRequests]);
  useAutoHeight(field, draft);
  const offered = matching(commands, draft);
  const send = (now: boolean): void => {
    if (draft.trim() === "") return;
    post({ type: "prompt", text: draft, ...(now && { now }) });
    write("");
  };
  const complete = (command: AvailableCommand): void => {
    write(`/${command.name} `);
    field.current?.focus();
  };
  const act: Readonly<Record<KeyAction, () => void>> = {
    next: () => choose((chosen + 1) % offered.length),
    previous: () => choose((chosen - 1 + offered.length) % offered.length),
    complete: () => offered[chosen] && complete(offered[chosen]),
    send: () => send(false),
    "send-now": () => send(true),
    queue: () => lastInQueue()?.focus(),
    stop: () => post({ type: "cancel" }),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = keyAction(event, { running, draft, command: offered[chosen], hasQueue: queue.length > 0 });
    if (action === undefined) return;
    event.preventDefault();
    act[action]();
  };
  return (
    <div class="composer">
      <CommandList commands={offered} chosen={chosen} onChoose={complete} />
      <div class="composer-box">
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={draft}
          aria-label={`Message ${agentName}`}
          aria-controls={offered.length > 0 ? "commands" : undefined}
          placeholder={running ? "Queue a message… (Ctrl+Enter: send it now)" : `Ask ${agentName}…`}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <ComposerFoot canSend={draft.trim() !== ""} onSend={() => send(false)} />
      </div>
    </div>
  );
}

function ComposerFoot({ canSend, onSend }: { readonly canSend: boolean; readonly onSend: () => void }) {
  const { store, post } = usePanel();
  const { running, configOptions, usage } = store.shown.value;
  return (
    <div class="composer-foot">
      <div class="pickers">
        {configOptions.map((option) => option.type === "select" && <ConfigPicker key={option.id} option={option} />)}
      </div>
      {usage && <UsageMeter usage={usage} />}
      {running && (
        <button
          type="button"
          class="send-button"
          title="Stop (Escape)"
          aria-label="Stop"
          onClick={() => post({ type: "cancel" })}
        >
          <Icon name="debug-stop" />
        </button>
      )}
      {(!running || canSend) && (
        <button
          type="button"
          class="send-button"
          title={running ? "Queue (Enter). Send into the running turn (Ctrl+Enter)" : "Send (Enter)"}
          aria-label={running ? "Queue" : "Send"}
          disabled={!canSend}
          onClick={onSend}
        >
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}

/** First button of the last queued message, which is in another view. */
function lastInQueue(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(".queue [data-row]")].at(-1)?.querySelector("button") ?? undefined;
}

function matching(commands: readonly AvailableCommand[], draft: string): readonly AvailableCommand[] {
  const [, begun] = /^\/([\w-]*)$/.exec(draft) ?? [];
  return begun === undefined ? [] : commands.filter(({ name }) => name.startsWith(begun));
}

type CommandListProps = {
  readonly commands: readonly AvailableCommand[];
  readonly chosen: number;
  readonly onChoose: (command: AvailableCommand) => void;
};

/** Slash commands that match the draft. */
function CommandList({ commands, chosen, onChoose }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    placeAbove(list.current, list.current?.parentElement ?? null);
    list.current?.querySelector(".command-chosen")?.scrollIntoView({ block: "nearest" });
  }, [commands.length, chosen]);
  if (commands.length === 0) return null;
  return (
    <div class="commands" id="commands" role="listbox" aria-label="Commands" ref={list}>
      {commands.map((command, index) => (
        <div
          key={command.name}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          class={`command${index === chosen ? " command-chosen" : ""}`}
          // A click would take the focus out of the composer.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(command);
          }}
        >
          <span class="command-name">/{command.name}</span>
          <span class="command-description">{command.description}</span>
        </div>
      ))}
    </div>
  );
}

type KeyAction = "next" | "previous" | "complete" | "send" | "send-now" | "queue" | "stop";

type Typing = {
  readonly running: boolean;
  readonly draft: string;
  /** The command that completes the draft. */
  readonly command: AvailableCommand | undefined;
  readonly hasQueue: boolean;
};

/** Undefined for a key that only types. */
function keyAction(event: KeyboardEvent, typing: Typing): KeyAction | undefined {
  // Enter and Escape belong to an input method while it composes.
  if (event.isComposing) return undefined;
  const { running, command } = typing;
  switch (event.key) {
    case "ArrowDown":
      return command && "next";
    case "ArrowUp":
      return command ? "previous" : onArrowUp(typing);
    case "Tab":
      return command && "complete";
    case "Enter":
      return onEnter(event, typing);
    case "Escape":
      return running ? "stop" : undefined;
    default:
      return undefined;
  }
}

/** Up in an empty composer moves to the queue. */
function onArrowUp({ hasQueue, draft }: Typing): KeyAction | undefined {
  return hasQueue && draft === "" ? "queue" : undefined;
}

function onEnter({ shiftKey, ctrlKey, metaKey }: KeyboardEvent, { command, draft }: Typing): KeyAction | undefined {
  if (shiftKey) return undefined;
  if (ctrlKey || metaKey) return "send-now";
  // Enter sends a complete command.
  const completes = command !== undefined && draft.trim() !== `/${command.name}`;
  return completes ? "complete" : "send";
}

const pressureNotes: Readonly<Record<ContextPressure, string>> = {
  low: "",
  high: "\nNearly full: the agent will soon summarise older messages.",
  full: "\nFull: the agent can summarise no more, and withholds tools with long results. Start a new session.",
};

/** Fill level of the context window, and cost of the session. */
function UsageMeter({ usage: { used, size, cost, pressure } }: { readonly usage: UsageState }) {
  const share = size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
  const price = cost ? ` · ${cost.amount.toFixed(2)} ${cost.currency}` : "";
  const label = `Context: ${formatCount(used)} of ${formatCount(size)} tokens (${share} %)${price}${pressureNotes[pressure]}`;
  return (
    <span class={`usage usage-${pressure}`} title={label}>
      <meter min={0} max={100} value={share} aria-label={label} />
      {share}%
    </span>
  );
}
