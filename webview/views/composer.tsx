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
  const { running, configOptions, commands, usage, compose, agentName } = store.shown.value;
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
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, Enter and Escape are its own.
    if (event.isComposing) return;
    const command = offered[chosen];
    if (command !== undefined && moveInList(event, { count: offered.length, chosen, choose })) return;
    if (
      command !== undefined &&
      (event.key === "Tab" || (event.key === "Enter" && draft.trim() !== `/${command.name}`))
    ) {
      event.preventDefault();
      complete(command);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && running) {
      post({ type: "cancel" });
    }
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
        <div class="composer-foot">
          {configOptions.map((option) => option.type === "select" && <ConfigPicker key={option.id} option={option} />)}
          <span class="spacer" />
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
              disabled={draft.trim() === ""}
              onClick={send}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function matching(commands: readonly AvailableCommand[], draft: string): readonly AvailableCommand[] {
  const [, begun] = /^\/([\w-]*)$/.exec(draft) ?? [];
  return begun === undefined ? [] : commands.filter(({ name }) => name.startsWith(begun));
}

type ListState = { readonly count: number; readonly chosen: number; readonly choose: (index: number) => void };

function moveInList(event: KeyboardEvent, { count, chosen, choose }: ListState): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return false;
  event.preventDefault();
  choose((chosen + step + count) % count);
  return true;
}
