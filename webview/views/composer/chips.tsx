/** Attachments as a row of chips: of a draft, where they can be removed, or of a sent message. */
import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import type { Attachment } from "../../../agent-core/protocol/attachments.ts";
import type { Panel } from "../../panel.ts";
import { folderAmong, lookOf, placeOf, shortLabel, titleOf } from "../../state/attachments.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";

/** Changes of a draft's chips. */
export type ChipEdits = {
  readonly remove: (attachment: Attachment) => void;
  /** Puts a pasted text into the message itself. */
  readonly insertText: (attachment: Attachment) => void;
  /** Focuses the text of the draft. */
  readonly leave: () => void;
};

type ChipRowProps = {
  readonly attachments: readonly Attachment[];
  /** Undefined for a sent message. */
  readonly edits?: ChipEdits;
};

/** Only one chip is a stop of the Tab key; the arrow keys move between them. */
export const ChipRow = memo(function ChipRow({ attachments, edits }: ChipRowProps) {
  const row = useRef<HTMLUListElement>(null);
  const [active, setActive] = useState(0);
  const [shown, show] = useState<Attachment | undefined>(undefined);
  if (attachments.length === 0) return null;
  const stop = Math.min(active, attachments.length - 1);
  const preview = shown !== undefined && attachments.includes(shown) && shown.kind === "text" ? shown : undefined;
  const remove = (index: number): void => {
    const attachment = attachments[index];
    if (edits === undefined || attachment === undefined) return;
    // The next chip takes the place of the removed one, and its focus.
    const next = chipAt(row.current, index + 1) ?? chipAt(row.current, index - 1);
    if (next === undefined) edits.leave();
    else next.focus();
    setActive(Math.min(index, attachments.length - 2)); // the focus has set the index before the removal
    edits.remove(attachment);
  };
  const move = (to: number): void => {
    const next = chipAt(row.current, to);
    if (next !== undefined) next.focus();
    else if (to > 0) edits?.leave();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const index = indexOfChip(row.current, event.target);
    if (index < 0) return;
    onKeys({
      ArrowLeft: () => move(index - 1),
      ArrowRight: () => move(index + 1),
      Delete: () => remove(index),
      Backspace: () => remove(index),
      ...(edits && { Escape: edits.leave }),
    })(event);
  };
  return (
    <>
      <ul
        class="chips"
        aria-label={t("Attachments")}
        ref={row}
        onKeyDown={onKeyDown}
        onFocusIn={({ target }) => setActive(Math.max(0, indexOfChip(row.current, target)))}
      >
        {attachments.map((attachment, index) => (
          <Chip
            key={attachment}
            attachment={attachment}
            folder={folderAmong(attachments, attachment)}
            isStop={index === stop}
            isShown={attachment === preview}
            onShow={() => show(attachment === shown ? undefined : attachment)}
            onRemove={edits && (() => remove(index))}
            onInsert={edits && attachment.kind === "text" ? () => edits.insertText(attachment) : undefined}
          />
        ))}
      </ul>
      {preview && (
        <textarea
          class="chip-preview"
          readOnly
          rows={8}
          dir="auto"
          aria-label={shortLabel(preview.label)}
          value={previewOf(preview.text)}
        />
      )}
    </>
  );
});

/** Limit of the shown text of a chip. Characters. */
const PREVIEW_CHARS = 20_000;

function previewOf(text: string): string {
  const shown = visibleText(text.slice(0, PREVIEW_CHARS));
  return text.length > PREVIEW_CHARS ? `${shown}…` : shown;
}

function chipAt(row: HTMLElement | null, index: number): HTMLElement | undefined {
  return row?.querySelectorAll<HTMLElement>(".chip-name")[index];
}

function indexOfChip(row: HTMLElement | null, target: unknown): number {
  return [...(row?.querySelectorAll(".chip-name") ?? [])].indexOf(target as Element);
}

/** Focuses the last chip in `element`. */
export function focusLastChip(element: HTMLElement | null): void {
  const chips = element?.querySelectorAll<HTMLElement>(".chip-name");
  chips?.[chips.length - 1]?.focus();
}

type ChipProps = {
  readonly attachment: Attachment;
  /** Folder that distinguishes it from an attachment of the same name. */
  readonly folder: string | undefined;
  readonly isStop: boolean;
  /** The text of the chip is shown under the row. */
  readonly isShown: boolean;
  readonly onShow: () => void;
  readonly onRemove: (() => void) | undefined;
  readonly onInsert: (() => void) | undefined;
};

function Chip({ attachment, folder, isStop, isShown, onShow, onRemove, onInsert }: ChipProps) {
  const panel = usePanel();
  const label = shortLabel(attachment.label);
  const detail = folder === undefined ? undefined : shortLabel(folder);
  const { icon, name } = lookOf(attachment);
  const open = attachment.kind === "text" ? onShow : openerOf(panel, attachment);
  return (
    <li class={`chip${onRemove ? "" : " chip-sent"}`}>
      <button
        type="button"
        class="chip-name"
        tabIndex={isStop ? 0 : -1}
        title={titleOf(attachment)}
        aria-label={[`${name}: ${label}`, ...(detail === undefined ? [] : [detail])].join(", ")}
        aria-disabled={open === undefined}
        aria-expanded={attachment.kind === "text" ? isShown : undefined}
        aria-keyshortcuts={onRemove && "Delete"}
        onClick={open}
      >
        {attachment.kind === "picture" ? (
          <img class="chip-picture" alt="" src={`data:${attachment.mimeType};base64,${attachment.data}`} />
        ) : (
          <Icon name={icon} />
        )}
        <bdi class="chip-label">{label}</bdi>
        {detail !== undefined && <bdi class="chip-label chip-folder">{detail}</bdi>}
      </button>
      {onInsert && <ChipButton icon="symbol-string" name={t("Insert as Text Instead: {0}", label)} act={onInsert} />}
      {onRemove && <ChipButton icon="close" name={t("Remove {0}", label)} act={onRemove} />}
    </li>
  );
}

type ChipButtonProps = { readonly icon: string; readonly name: string; readonly act: () => void };

function ChipButton({ icon, name, act }: ChipButtonProps) {
  return (
    <button type="button" class="icon-button chip-button" tabIndex={-1} title={name} aria-label={name} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

/** Opens the attachment: in the editor, or a session in the panel. Undefined for one without a place. */
function openerOf(panel: Panel, attachment: Attachment): (() => void) | undefined {
  if (attachment.kind === "picture") {
    const { mimeType, data } = attachment;
    return () => panel.post({ type: "open-picture", mimeType, data });
  }
  if (attachment.kind === "session") return () => panel.openSession(attachment.sessionId);
  const place = placeOf(attachment);
  return place && (() => panel.post({ type: "open-location", ...place }));
}
