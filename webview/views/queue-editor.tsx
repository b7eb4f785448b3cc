/** Changes a queued message: Enter keeps the change, Escape what was there before. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

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
