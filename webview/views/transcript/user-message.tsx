/** A message of the user, with actions: edit, send again, fork, restore. */
import { createContext } from "preact";
import { useContext, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { containedText } from "../../../agent-core/platform/visible-text.ts";
import type { TextEntry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { IconButton } from "../icon.tsx";
import { InlineEditor } from "../inline-editor.tsx";
import { usePanel } from "../panel-context.ts";
import { RestoreCard } from "./restore-card.tsx";

/** Drafts of messages that the user edits, by the key of the entry. They outlive the rows of the virtual list. */
export const MessageEdits = createContext<Map<string, string>>(new Map());

export function UserMessage({ entry }: { readonly entry: TextEntry }) {
  const { post, isReadOnly } = usePanel();
  const edits = useContext(MessageEdits);
  const [isEditing, setEditing] = useState(edits.has(entry.key));
  const text = wholeText(entry.text);
  const { position } = entry;
  const close = (): void => {
    edits.delete(entry.key);
    setEditing(false);
  };
  const resend = (edited: string): void => {
    close();
    if (position !== undefined) post({ type: "resend", position, text: edited });
  };
  return (
    <div class="entry user">
      <h2 class="visually-hidden">You</h2>
      {isEditing ? (
        <MessageEditor
          text={text}
          draft={edits.get(entry.key)}
          onWrite={(draft) => edits.set(entry.key, draft)}
          onSend={resend}
          onCancel={close}
        />
      ) : (
        <div class="bubble" dir="auto">
          {containedText(text)}
        </div>
      )}
      {position !== undefined && !isEditing && !isReadOnly && (
        <Actions position={position} text={text} onEdit={() => setEditing(true)} />
      )}
      {position !== undefined && <RestoreCard position={position} />}
    </div>
  );
}

type MessageEditorProps = {
  readonly text: string;
  /** Draft from before the row left the page; undefined when the editor opens. */
  readonly draft: string | undefined;
  readonly onWrite: (draft: string) => void;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
};

function MessageEditor({ text, draft: earlier, onWrite, onSend, onCancel }: MessageEditorProps) {
  const [draft, setDraft] = useState(earlier ?? text);
  const write = (written: string): void => {
    onWrite(written);
    setDraft(written);
  };
  useLayoutEffect(() => {
    if (earlier === undefined) onWrite(text);
  }, []);
  const canSend = draft.trim() !== "";
  return (
    <div class="message-editor">
      <InlineEditor
        label="Message to send again"
        draft={draft}
        takesFocus={earlier === undefined}
        onWrite={write}
        onSubmit={() => canSend && onSend(draft)}
        onCancel={onCancel}
      />
      <p class="message-editor-note">Sending it removes everything after this message. Files stay as they are.</p>
      <div class="ask-buttons">
        <button type="button" class="button button-primary" disabled={!canSend} onClick={() => onSend(draft)}>
          Send
        </button>
        <button type="button" class="button button-secondary" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

type ActionsProps = { readonly position: number; readonly text: string; readonly onEdit: () => void };

function Actions({ position, text, onEdit }: ActionsProps) {
  const { store, post } = usePanel();
  const running = useMemo(() => store.select((state) => state.running), [store]);
  // A running turn builds on the message.
  if (running.value) return null;
  return (
    <div class="message-actions">
      <IconButton icon="edit" name="Edit message and send it again" title="Edit and send again" act={onEdit} />
      <IconButton
        icon="refresh"
        name="Send message again"
        title="Send again: removes everything after this message"
        act={() => post({ type: "resend", position, text })}
      />
      <IconButton
        icon="repo-forked"
        name="Fork the session before this message"
        title="Fork: a new session with everything before this message"
        act={() => post({ type: "fork-here", position, text })}
      />
      <IconButton
        icon="history"
        name="Restore to here"
        title="Restore to here: files, conversation or both, after a preview"
        act={() => post({ type: "restore-preview", position })}
      />
    </div>
  );
}
