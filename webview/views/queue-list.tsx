/** Queue of messages that the user sent while a turn runs. */
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { QueuedPrompt } from "../../agent-core/protocol/panel-events.ts";
import { type Draft, isSendable, shortLabel } from "../state/attachments.ts";
import { t } from "../texts.ts";
import { DraftEditor } from "./composer/draft-field.tsx";
import { useFocusKept } from "./focus-kept.ts";
import { Icon, IconButton, IconButtons } from "./icon.tsx";
import { onKeys } from "./keys.ts";
import { usePanel } from "./panel-context.ts";

export function QueueList() {
  const { store } = usePanel();
  const { queue } = store.shown.value;
  const list = useFocusKept<HTMLUListElement>(queue, ".draft-field textarea, [data-row] > button");
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label={t("Queued messages")} ref={list}>
      {queue.map((prompt, index) => (
        <Queued key={prompt.id} prompt={prompt} index={index} />
      ))}
    </ul>
  );
}

type QueuedProps = { readonly prompt: QueuedPrompt; readonly index: number };

function Queued({ prompt, index }: QueuedProps) {
  const { post } = usePanel();
  const { id, text, attachments = [], state } = prompt;
  const drop = (event: DragEvent): void => {
    const dragged = event.dataTransfer?.getData(DRAGGED);
    if (!dragged) return;
    event.preventDefault();
    post({ type: "queue-move", id: dragged, to: index });
  };
  if (state === "editing") {
    return (
      <li data-row={id}>
        <QueueEditor
          queued={{ text, attachments }}
          onDone={(edited) => post({ type: "queue-edit", id, text: edited.text, attachments: edited.attachments })}
        />
      </li>
    );
  }
  return (
    <li
      data-row={id}
      onDragOver={(event) => event.dataTransfer?.types.includes(DRAGGED) && event.preventDefault()}
      onDrop={drop}
    >
      {state === "steering" ? <Icon name="loading" spin /> : <Grip id={id} index={index} />}
      <span class="tool-title" dir="auto" title={state === "steering" ? `${text}\n\n${STEERING}` : text}>
        {text || attachments.map(({ label }) => shortLabel(label)).join(", ")}
      </span>
      {attachments.length > 0 && (
        <span class="queue-attached" title={attachments.map(({ label }) => shortLabel(label)).join("\n")}>
          <Icon name="attach" />
          {attachments.length} <span class="visually-hidden">{t("attachments")}</span>
        </span>
      )}
      {state === "steering" ? <span class="visually-hidden">{STEERING}</span> : <Actions id={id} />}
    </li>
  );
}

type QueueEditorProps = { readonly queued: Draft; readonly onDone: (edited: Draft) => void };

/** `onDone` gets the message to send; an empty draft keeps the old one. */
function QueueEditor({ queued, onDone }: QueueEditorProps) {
  const draft = useMemo(() => signal(queued), []);
  const save = (): void => onDone(isSendable(draft.peek()) ? draft.peek() : queued);
  const cancel = (): void => onDone(queued);
  return (
    <>
      <DraftEditor label={t("Queued message")} draft={draft} takesFocus onSubmit={save} onCancel={cancel} />
      <IconButton icon="check" name={t("Save")} title={t("Save (Enter)")} act={save} />
      <IconButton icon="discard" name={t("Discard the Change")} title={t("Cancel (Escape)")} act={cancel} />
    </>
  );
}

const STEERING = t("The agent reads it after the current step.");

/** Data type of a drag inside this list, which accepts no other drop. */
const DRAGGED = "application/x-hermes-queued";

/** Handle that moves a message, by mouse or arrow keys. */
function Grip({ id, index }: { readonly id: string; readonly index: number }) {
  const { store, post } = usePanel();
  const { length } = store.shown.value.queue;
  if (length === 1) return <Icon name="clock" />;
  const move = (to: number) => (): void => {
    if (to >= 0 && to < length) post({ type: "queue-move", id, to });
  };
  return (
    <button
      type="button"
      class="icon-button queue-grip"
      title={t("Drag to move, or press the up and down arrow keys.")}
      aria-label={t("Move Queued Message, {0} of {1}", index + 1, length)}
      aria-keyshortcuts="ArrowUp ArrowDown"
      draggable
      onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, id)}
      onKeyDown={onKeys({ ArrowUp: move(index - 1), ArrowDown: move(index + 1) })}
    >
      <Icon name="gripper" />
    </button>
  );
}

const INTERRUPT = t("Stop the Running Turn and Send This Instead");

function Actions({ id }: { readonly id: string }) {
  const { running, isForeign } = usePanel().store.shown.value;
  const sendTitle = running ? t("Send Now: the agent reads it after the current step") : t("Send");
  return (
    <>
      {(!running || !isForeign) && (
        <IconButtons of={[["arrow-up", t("Send Queued Message Now"), sendTitle, { type: "queue-send", id }]]} />
      )}
      {running && (
        <IconButtons
          of={[["stop-circle", t("Stop and Send Queued Message"), INTERRUPT, { type: "queue-interrupt", id }]]}
        />
      )}
      <IconButtons
        of={[
          ["edit", t("Edit Queued Message"), t("Edit"), { type: "queue-hold", id }],
          ["close", t("Remove Queued Message"), t("Remove"), { type: "queue-remove", id }],
        ]}
      />
    </>
  );
}
