/** Where one writes: grows with the text, sends with Enter, completes commands, stops the agent. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CommandList } from "./command-list.tsx";
import { type KeyAction, keyAction } from "./composer-keys.ts";
import { ConfigPicker } from "./config-picker.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { UsageMeter } from "./usage-meter.tsx";

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
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [draft]);
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
          placeholder={running ? "Queue… (Ctrl+Enter: say it now)" : `Ask ${agentName}…`}
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
          title={running ? "Queue (Enter), send into the running turn (Ctrl+Enter)" : "Send (Enter)"}
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

/** The queue is another view: what of it takes the focus from here. */
function lastInQueue(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(".queue [data-row]")].at(-1)?.querySelector("button") ?? undefined;
}

function matching(commands: readonly AvailableCommand[], draft: string): readonly AvailableCommand[] {
  const [, begun] = /^\/([\w-]*)$/.exec(draft) ?? [];
  return begun === undefined ? [] : commands.filter(({ name }) => name.startsWith(begun));
}
