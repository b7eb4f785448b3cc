/** List above a text field that completes its word. The focus stays in the field, whose keys choose a row. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { LABEL_CHARS, onOneLine, shortLabel } from "../../state/attachments.ts";
import { Icon } from "../icon.tsx";
import { keepAbove } from "../place-above.ts";

/** Ranges of a text, in order. */
type Marks = readonly (readonly [number, number])[];

export type CompletionRow = {
  readonly key: string;
  /** Name of a codicon. */
  readonly icon?: string;
  readonly name: string;
  readonly marks?: Marks;
  readonly detail?: string | undefined;
  /** Whole name, which the row may cut. */
  readonly title?: string;
  /** Heading above the first row of a group. */
  readonly group?: string | undefined;
  readonly choose: () => void;
};

type CompletionListProps = {
  /** Rows have the ids ID-0, ID-1 and so on. */
  readonly id: string;
  readonly label: string;
  readonly rows: readonly CompletionRow[];
  readonly chosen: number;
  /** State of the search, under the rows. */
  readonly note?: string | undefined;
};

export function CompletionList({ id, label, rows, chosen, note }: CompletionListProps) {
  const popup = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const leave = keepAbove(popup.current, popup.current?.parentElement ?? null);
    popup.current?.querySelector(".completion-chosen")?.scrollIntoView({ block: "nearest" });
    return leave;
  }, [rows, chosen]);
  return (
    <div class="completion" ref={popup}>
      <div class="completion-rows" id={id} role="listbox" aria-label={label}>
        {rows.map((row, index) => (
          <Row key={row.key} id={`${id}-${index}`} row={row} isChosen={index === chosen} />
        ))}
      </div>
      <div class="completion-note" role="status">
        {note}
      </div>
    </div>
  );
}

type RowProps = { readonly id: string; readonly row: CompletionRow; readonly isChosen: boolean };

function Row({ id, row, isChosen }: RowProps) {
  const { icon, name, marks = [], detail, title, group, choose } = row;
  return (
    <>
      {group !== undefined && (
        <div class="completion-group" aria-hidden="true">
          {group}
        </div>
      )}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={isChosen}
        title={title}
        class={`completion-row${isChosen ? " completion-chosen" : ""}`}
        // A click would take the focus out of the field.
        onMouseDown={(event) => {
          event.preventDefault();
          choose();
        }}
      >
        {icon !== undefined && <Icon name={icon} />}
        <span class="completion-text">
          <span class={icon === undefined ? "completion-name completion-code" : "completion-name"}>
            <MarkedText text={name} marks={marks} />
          </span>{" "}
          {detail !== undefined && detail !== "" && <bdi class="completion-detail">{shortLabel(detail)}</bdi>}
        </span>
      </div>
    </>
  );
}

type MarkedTextProps = { readonly text: string; readonly marks: Marks };

/** A text on one line with highlighted ranges. A long text is cut. */
function MarkedText({ text, marks }: MarkedTextProps) {
  const cut = text.slice(0, LABEL_CHARS);
  let end = 0;
  const pieces = marks.map(([from, to]) => {
    const before = cut.slice(end, from);
    end = to;
    return (
      <>
        {onOneLine(before)}
        <mark key={from}>{onOneLine(cut.slice(from, to))}</mark>
      </>
    );
  });
  return (
    <bdi>
      {pieces}
      {onOneLine(cut.slice(end))}
      {cut.length < text.length && "…"}
    </bdi>
  );
}
