/** Messages typed while the agent works: sent when it is done, or now, into the running turn or instead of it. */
import { useState } from "preact/hooks";
import type { QueuedPrompt } from "../panel-protocol.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function QueueList() {
  const { store } = usePanel();
  const { queue } = store.shown.value;
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Queued messages">
      {queue.map((prompt) => (
        <Queued key={prompt.id} prompt={prompt} />
      ))}
    </ul>
  );
}

function Queued({ prompt: { id, text, state } }: { readonly prompt: QueuedPrompt }) {
  const { post, store } = usePanel();
  const { running } = store.shown.value;
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const save = (): void => {
    if (draft !== undefined && draft.trim() !== "") post({ type: "queue-edit", id, text: draft });
    setDraft(undefined);
  };
  if (draft !== undefined) {
    return (
      <li>
        <input
          type="text"
          aria-label="Queued message"
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && !event.isComposing && save()}
        />
        <button type="button" class="icon-button" title="Save" aria-label="Save" onClick={save}>
          <Icon name="check" />
        </button>
      </li>
    );
  }
  if (state === "steering") {
    return (
      <li>
        <Icon name="loading" spin />
        <span class="tool-title" dir="auto" title={`${text}\n\nThe agent reads it after the current step.`}>
          {text}
        </span>
      </li>
    );
  }
  return (
    <li>
      <Icon name="clock" />
      <span class="tool-title" dir="auto" title={text}>
        {text}
      </span>
      <Action
        icon="arrow-up"
        name="Send queued message now"
        title={running ? "Send now: the agent reads it after the current step" : "Send"}
        act={() => post({ type: "queue-send", id })}
      />
      {running && (
        <Action
          icon="debug-restart"
          name="Stop and send queued message"
          title="Stop what runs and send this instead"
          act={() => post({ type: "queue-interrupt", id })}
        />
      )}
      <Action icon="edit" name="Edit queued message" title="Edit" act={() => setDraft(text)} />
      <Action icon="close" name="Remove queued message" title="Remove" act={() => post({ type: "queue-remove", id })} />
    </li>
  );
}

type ActionProps = {
  readonly icon: string;
  readonly name: string;
  readonly title: string;
  readonly act: () => void;
};

function Action({ icon, name, title, act }: ActionProps) {
  return (
    <button type="button" class="icon-button" title={title} aria-label={name} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
