/** Where one writes: grows with the text, sends with Enter, completes commands, stops the agent. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CommandList } from "./command-list.tsx";
import { ConfigPicker } from "./config-picker.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { UsageMeter } from "./usage-meter.tsx";

export function Composer() {
  const { store, memory, post } = usePanel();
  const { running, commands, compose, agentName } = store.shown.value;
  const [draft, setDraft] = useState(memory.draft);
  const [chosen, choose] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (text: string): void => {
    memory.draft = text;
    setDraft(text);
    choose(0);
  };
  useLayoutEffect(() => {
    if (compose.serial === 0) return;
    if (compose.text !== undefined) write(compose.text);
    field.current?.focus();
  }, [compose.serial]);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [draft]);
  const offered = matching(commands, draft);
  const send = (): void => {
    if (draft.trim() === "") return;
    post({ type: "prompt", text: draft });
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
    send,
    stop: () => post({ type: "cancel" }),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = keyAction(event, { running, draft, command: offered[chosen] });
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
          placeholder={running ? "Queue a message…" : `Ask ${agentName} to do something…`}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <ComposerFoot canSend={draft.trim() !== ""} onSend={send} />
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
      {running ? (
        <button
          type="button"
          class="send-button"
          title="Stop (Escape)"
          aria-label="Stop"
          onClick={() => post({ type: "cancel" })}
        >
          <Icon name="debug-stop" />
        </button>
      ) : (
        <button
          type="button"
          class="send-button"
          title="Send (Enter)"
          aria-label="Send"
          disabled={!canSend}
          onClick={onSend}
        >
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}

type KeyAction = "next" | "previous" | "complete" | "send" | "stop";

type Typing = {
  readonly running: boolean;
  readonly draft: string;
  /** The command that would complete what is typed. */
  readonly command: AvailableCommand | undefined;
};

/** What a key means here; undefined when it is only typing. */
function keyAction(event: KeyboardEvent, { running, draft, command }: Typing): KeyAction | undefined {
  // While an input method composes, Enter and Escape are its own.
  if (event.isComposing) return undefined;
  // A command that is there already is to be sent, not completed.
  const completes = command !== undefined && draft.trim() !== `/${command.name}`;
  switch (event.key) {
    case "ArrowDown":
      return command && "next";
    case "ArrowUp":
      return command && "previous";
    case "Tab":
      return command && "complete";
    case "Enter":
      if (event.shiftKey) return undefined;
      return completes ? "complete" : "send";
    case "Escape":
      return running ? "stop" : undefined;
    default:
      return undefined;
  }
}

function matching(commands: readonly AvailableCommand[], draft: string): readonly AvailableCommand[] {
  const [, begun] = /^\/([\w-]*)$/.exec(draft) ?? [];
  return begun === undefined ? [] : commands.filter(({ name }) => name.startsWith(begun));
}
