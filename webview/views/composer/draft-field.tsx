/** Field of a message that is being written: its chips, its text, and the list that completes the word at the caret. */
import type { Signal } from "@preact/signals";
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { longText } from "../../attaching.ts";
import type { Panel } from "../../panel.ts";
import { type Draft, withAttachments, withoutAttachment, withText } from "../../state/attachments.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { type ChipEdits, ChipRow, focusLastChip } from "./chips.tsx";
import { CompletionList } from "./completion-list.tsx";
import { useCompletion } from "./use-completion.ts";

type DraftFieldProps = {
  readonly label: string;
  readonly draft: Signal<Draft>;
  readonly placeholder?: string;
  /** In place of a placeholder that does not fit. */
  readonly shortHint?: string | undefined;
  readonly commands?: readonly AvailableCommand[];
  /** A change of this number focuses the field; 0 does not. */
  readonly focus: number;
  /** Takes a key that belongs neither to the list nor to the chips. */
  readonly onKey: (event: KeyboardEvent) => void;
  /** Chips before those of the draft. */
  readonly suggestion?: ComponentChildren;
  /** Line under the text. */
  readonly children?: ComponentChildren;
};

const NO_COMMANDS: readonly AvailableCommand[] = [];

export function DraftField(props: DraftFieldProps) {
  const { label, draft, placeholder, shortHint, commands = NO_COMMANDS, focus, onKey, suggestion, children } = props;
  const panel = usePanel();
  const { text, attachments, note } = draft.value;
  const field = useRef<HTMLTextAreaElement>(null);
  const { replace, nextCaret } = useReplace(draft, field);
  const completion = useCompletion({ field, draft, commands, replace, onKey });
  const { list } = completion;
  useLayoutEffect(() => {
    if (focus > 0) field.current?.focus();
  }, [focus]);
  useAutoHeight(field, text);
  useLayoutEffect(() => {
    const caret = nextCaret.current;
    if (caret === undefined) return;
    nextCaret.current = undefined;
    field.current?.setSelectionRange(caret, caret);
    completion.onCaret();
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (completion.onKeyDown(event)) event.preventDefault();
    else if (attachments.length > 0 && isTowardsChips(event, field.current)) {
      event.preventDefault();
      focusLastChip(field.current?.closest(".draft-field") ?? null);
    } else onKey(event);
  };
  return (
    <div class="draft-field">
      {list && <CompletionList id="completion" {...list} chosen={completion.chosen} />}
      <DraftTop draft={draft} field={field} replace={replace} suggestion={suggestion} onMention={completion.mention} />
      {note !== undefined && (
        <p class="draft-note" role="status">
          {note}
        </p>
      )}
      <div class="draft-text" data-short-hint={shortHint}>
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={text}
          aria-label={label}
          aria-autocomplete="list"
          aria-controls={list && "completion"}
          aria-activedescendant={list && list.rows.length > 0 ? `completion-${completion.chosen}` : undefined}
          placeholder={placeholder}
          onInput={(event) => {
            draft.value = withText(draft.peek(), event.currentTarget.value);
            completion.onType();
          }}
          onPaste={(event) => paste(event, panel, draft)}
          onKeyDown={onKeyDown}
          onKeyUp={completion.onCaret}
          onClick={completion.onCaret}
          onFocus={completion.onCaret}
          onBlur={completion.onBlur}
        />
      </div>
      {children}
    </div>
  );
}

/** Pasted pictures and files, and a long text, become chips. */
function paste(event: ClipboardEvent, panel: Panel, draft: Signal<Draft>): void {
  const { clipboardData } = event;
  const text = clipboardData?.getData("text/plain") ?? "";
  const files = [...(clipboardData?.files ?? [])];
  const long = longText(text);
  // Programs that copy a formatted text may add a picture of it.
  if (text === "" && files.length > 0) panel.attachFiles(files, draft);
  else if (long !== undefined) draft.value = withAttachments(draft.peek(), [long]);
  else return;
  event.preventDefault();
}

type DraftEditorProps = {
  readonly label: string;
  readonly draft: Signal<Draft>;
  readonly takesFocus: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
};

/** Field that changes a message: Enter submits, Escape cancels, Shift+Enter breaks the line. */
export function DraftEditor({ label, draft, takesFocus, onSubmit, onCancel }: DraftEditorProps) {
  const onKey = onKeys({ Enter: onSubmit, Escape: onCancel });
  return <DraftField label={label} draft={draft} focus={takesFocus ? 1 : 0} onKey={onKey} />;
}

function useAutoHeight(field: Field, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
}

type Field = RefObject<HTMLTextAreaElement | null>;

/** Replaces the draft; the caret follows when the new text is in the field. */
type Replace = (draft: Draft, caret: number) => void;

function useReplace(draft: Signal<Draft>, field: Field) {
  const nextCaret = useRef<number | undefined>(undefined);
  const replace: Replace = (next, caret) => {
    nextCaret.current = caret;
    draft.value = next;
    field.current?.focus();
  };
  return { replace, nextCaret };
}

type DraftTopProps = {
  readonly draft: Signal<Draft>;
  readonly field: Field;
  readonly replace: Replace;
  readonly suggestion: ComponentChildren;
  readonly onMention: () => void;
};

/** Button that adds context, suggestion and chips. */
function DraftTop({ draft, field, replace, suggestion, onMention }: DraftTopProps) {
  const { attachments, reading = 0 } = draft.value;
  const caretOf = (): number => field.current?.selectionStart ?? draft.peek().text.length;
  const edits = useMemo((): ChipEdits => {
    return {
      remove: (removed) => {
        draft.value = withoutAttachment(draft.peek(), removed);
      },
      insertText: (attachment) => {
        const [before, caret] = [withoutAttachment(draft.peek(), attachment), caretOf()];
        const pasted = attachment.kind === "text" ? attachment.text : "";
        const written = `${before.text.slice(0, caret)}${pasted}${before.text.slice(caret)}`;
        replace(withText(before, written), caret + pasted.length);
      },
      leave: () => field.current?.focus(),
    };
  }, [draft]);
  return (
    <div class="draft-top">
      <button
        type="button"
        class="context-button"
        title={CONTEXT_TITLE}
        aria-label={t("Add Context")}
        onMouseDown={(event) => event.preventDefault()}
        onClick={onMention}
      >
        <Icon name="mention" /> {attachments.length === 0 && !suggestion && t("Add Context")}
      </button>
      {suggestion}
      <ChipRow attachments={attachments} edits={edits} />
      {reading > 0 && (
        <span class="chip-reading" role="status">
          <Icon name="loading" spin /> {t("Reading…")}
        </span>
      )}
    </div>
  );
}

const CONTEXT_TITLE = t(
  "Add context: files, symbols, problems and more (@).\nHold Shift to drop files from the Explorer or a tab here.",
);

/** Backspace or the arrow key before the first character leads to the chips. */
function isTowardsChips({ key, shiftKey }: KeyboardEvent, field: HTMLTextAreaElement | null): boolean {
  if (field === null || field.selectionStart !== 0 || field.selectionEnd !== 0 || shiftKey) return false;
  const arrow = getComputedStyle(field).direction === "rtl" ? "ArrowRight" : "ArrowLeft";
  return key === "Backspace" || key === arrow;
}
