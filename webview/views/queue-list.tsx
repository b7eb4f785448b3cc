/** Messages typed while the agent works; they are sent when it is done. */
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

function Queued({ prompt: { id, text } }: { readonly prompt: QueuedPrompt }) {
  const { post } = usePanel();
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
  return (
    <li>
      <Icon name="clock" />
      <span class="tool-title" dir="auto" title={text}>
        {text}
      </span>
      <button
        type="button"
        class="icon-button"
        title="Edit"
        aria-label="Edit queued message"
        onClick={() => setDraft(text)}
      >
        <Icon name="edit" />
      </button>
      <button
        type="button"
        class="icon-button"
        title="Remove"
        aria-label="Remove queued message"
        onClick={() => post({ type: "queue-remove", id })}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}
