/** What the user said; it can be changed and said again, or taken as the beginning of another session. */

import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import type { TextEntry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { Icon } from "../icon.tsx";
import { MessageEditor } from "../inline-editor.tsx";
import { usePanel } from "../panel-context.ts";
import { RestoreCard } from "./restore-card.tsx";

export function UserMessage({ entry }: { readonly entry: TextEntry }) {
  const { post } = usePanel();
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
          {text}
        </div>
      )}
      {position !== undefined && !isEditing && (
        <Actions position={position} text={text} onEdit={() => setEditing(true)} />
      )}
      {position !== undefined && <RestoreCard position={position} />}
    </div>
  );
}

type ActionsProps = { readonly position: number; readonly text: string; readonly onEdit: () => void };

function Actions({ position, text, onEdit }: ActionsProps) {
  const { store, post } = usePanel();
  const running = useMemo(() => store.select((state) => state.running), [store]);
  // What was said cannot be changed under a turn that builds on it.
  if (running.value) return null;
  return (
    <div class="message-actions">
      <Action icon="edit" name="Edit message and send it again" tip="Edit and send again" act={onEdit} />
      <Action
        icon="refresh"
        name="Send message again"
        tip="Send again: what followed is taken back"
        act={() => post({ type: "resend", position, text })}
      />
      <Action
        icon="repo-forked"
        name="Fork the session before this message"
        tip="Fork: a new session with what was said before"
        act={() => post({ type: "fork-here", position, text })}
      />
      <Action
        icon="history"
        name="Restore to here"
        tip="Restore to here: files, conversation or both; shows first what it would do"
        act={() => post({ type: "restore-preview", position })}
      />
    </div>
  );
}

type ActionProps = { readonly icon: string; readonly name: string; readonly tip: string; readonly act: () => void };

function Action({ icon, name, tip, act }: ActionProps) {
  return (
    <button type="button" class="icon-button" title={tip} aria-label={name} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

/** Messages that are being changed: what was written so far, by the key of the entry. It outlives the entry's row. */

export const MessageEdits = createContext<Map<string, string>>(new Map());
