/** A text field inside a list: it grows with its text, Enter submits, Escape cancels, Shift+Enter breaks the line. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type InlineEditorProps = {
  readonly label: string;
  readonly draft: string;
  /** Takes the focus when it appears, with the caret at the end. */
  readonly takesFocus: boolean;
  readonly onWrite: (draft: string) => void;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
};

export function InlineEditor({ label, draft, takesFocus, onWrite, onSubmit, onCancel }: InlineEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (!takesFocus) return;
    field.current?.focus();
    field.current?.setSelectionRange(draft.length, draft.length);
  }, []);
  useAutoHeight(field, draft);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.shiftKey || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") onCancel();
    else onSubmit();
  };
  return (
    <textarea
      ref={field}
      rows={1}
      dir="auto"
      aria-label={label}
      value={draft}
      onInput={(event) => onWrite(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Gives a field the height of its text. */
export function useAutoHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
}
