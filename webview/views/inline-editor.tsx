/** Changes a message that was sent: Enter sends it again, Escape leaves all as it was. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

type MessageEditorProps = {
  readonly text: string;
  /** What was written before the message left the page; undefined when it is just being opened. */
  readonly draft: string | undefined;
  readonly onWrite: (draft: string) => void;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
};

export function MessageEditor({ text, draft: earlier, onWrite, onSend, onCancel }: MessageEditorProps) {
  const [draft, setDraft] = useState(earlier ?? text);
  const write = (written: string): void => {
    onWrite(written);
    setDraft(written);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (earlier !== undefined) return;
    onWrite(text);
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [draft]);
  const canSend = draft.trim() !== "";
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.shiftKey || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") onCancel();
    else if (canSend) onSend(draft);
  };
  return (
    <div class="message-editor">
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label="Message to send again"
        value={draft}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <p class="message-editor-note">What followed this message is taken back. Files stay as they are.</p>
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

/** Changes a queued message: Enter keeps the change, Escape what was there before. */

type QueueEditorProps = { readonly text: string; readonly onDone: (text: string) => void };

/** `onDone` is given the text as it is to be sent; nothing but blanks changes nothing. */
export function QueueEditor({ text, onDone }: QueueEditorProps) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [draft]);
  const save = (): void => onDone(draft.trim() === "" ? text : draft);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.shiftKey) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Enter") save();
    else onDone(text);
  };
  return (
    <>
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label="Queued message"
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" class="icon-button" title="Save (Enter)" aria-label="Save" onClick={save}>
        <Icon name="check" />
      </button>
      <button
        type="button"
        class="icon-button"
        title="Leave as it was (Escape)"
        aria-label="Discard the change"
        onClick={() => onDone(text)}
      >
        <Icon name="discard" />
      </button>
    </>
  );
}
