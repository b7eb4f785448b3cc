/** Messages typed while the agent works: sent when it is done, or now, into the running turn or instead of it. */
import type { QueuedPrompt } from "../../agent-core/protocol/panel-events.ts";
import { useFocusKept } from "./focus-kept.ts";
import { Icon } from "./icon.tsx";
import { QueueEditor } from "./inline-editor.tsx";
import { usePanel } from "./panel-context.ts";

const FOCUS = { inRow: "textarea, button", otherwise: ".composer textarea" };

export function QueueList() {
  const { store } = usePanel();
  const { queue } = store.shown.value;
  const list = useFocusKept<HTMLUListElement>(queue, FOCUS);
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Queued messages" ref={list}>
      {queue.map((prompt, place) => (
        <Queued key={prompt.id} prompt={prompt} place={place} />
      ))}
    </ul>
  );
}

type QueuedProps = { readonly prompt: QueuedPrompt; readonly place: number };

function Queued({ prompt, place }: QueuedProps) {
  const { post } = usePanel();
  const { id, text, state } = prompt;
  const drop = (event: DragEvent): void => {
    const dragged = event.dataTransfer?.getData(DRAGGED);
    if (!dragged) return;
    event.preventDefault();
    post({ type: "queue-move", id: dragged, to: place });
  };
  if (state === "editing") {
    return (
      <li data-row={id}>
        <QueueEditor text={text} onDone={(edited) => post({ type: "queue-edit", id, text: edited })} />
      </li>
    );
  }
  return (
    <li
      data-row={id}
      onDragOver={(event) => event.dataTransfer?.types.includes(DRAGGED) && event.preventDefault()}
      onDrop={drop}
    >
      {state === "steering" ? <Icon name="loading" spin /> : <Grip id={id} place={place} />}
      <span class="tool-title" dir="auto" title={state === "steering" ? `${text}\n\n${STEERING}` : text}>
        {text}
      </span>
      {state === "steering" ? <span class="visually-hidden">{STEERING}</span> : <Actions id={id} />}
    </li>
  );
}

const STEERING = "The agent reads it after the current step.";

/** Of a drag inside this list: nothing else can be dropped on it. */
const DRAGGED = "application/x-hermes-queued";

/** What one takes a message by to move it. */
function Grip({ id, place }: { readonly id: string; readonly place: number }) {
  const { store, post } = usePanel();
  const { length } = store.shown.value.queue;
  if (length === 1) return <Icon name="clock" />;
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const to = place + step;
    if (to >= 0 && to < length) post({ type: "queue-move", id, to });
  };
  return (
    <button
      type="button"
      class="icon-button queue-grip"
      title="Drag to move, or press the up and down arrow keys"
      aria-label={`Move queued message, ${place + 1} of ${length}`}
      aria-keyshortcuts="ArrowUp ArrowDown"
      draggable
      onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, id)}
      onKeyDown={move}
    >
      <Icon name="gripper" />
    </button>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

function Actions({ id }: { readonly id: string }) {
  const { store, post } = usePanel();
  const { running } = store.shown.value;
  return (
    <>
      <Action
        icon="arrow-up"
        name="Send queued message now"
        title={running ? "Send now: the agent reads it after the current step" : "Send"}
        act={() => post({ type: "queue-send", id })}
      />
      {running && (
        <Action
          icon="stop-circle"
          name="Stop and send queued message"
          title="Stop what runs and send this instead"
          act={() => post({ type: "queue-interrupt", id })}
        />
      )}
      <Action icon="edit" name="Edit queued message" title="Edit" act={() => post({ type: "queue-hold", id })} />
      <Action icon="close" name="Remove queued message" title="Remove" act={() => post({ type: "queue-remove", id })} />
    </>
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
