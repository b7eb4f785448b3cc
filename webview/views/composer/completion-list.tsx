/** Lists above a text field, which keeps the focus and whose keys choose a row: completions, and the choices of a picker. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { LABEL_CHARS, onOneLine, shortLabel } from "../../state/attachments.ts";
import { Icon } from "../icon.tsx";
import { keepAbove } from "../place-above.ts";

/** Ranges of a text, in order. */
type Marks = readonly (readonly [number, number])[];

export type ListRow = {
  readonly key: string;
  /** Name of a codicon. */
  readonly icon?: string;
  readonly name: string;
  readonly marks?: Marks;
  readonly detail?: string | undefined;
  /** Whole name, which the row may cut. */
  readonly title?: string;
  /** Name for screen readers. Default: the text of the row. */
  readonly label?: string;
  /** Heading above the first row of a group. */
  readonly group?: string | undefined;
  /** It is the present choice. Default: the row that Enter takes. */
  readonly isCurrent?: boolean;
  readonly choose: () => void;
};

type RowListProps = {
  /** Rows have the ids ID-0, ID-1 and so on. */
  readonly id: string;
  readonly label: string;
  readonly rows: readonly ListRow[];
  readonly chosen: number;
  /** State of the search, under the rows. */
  readonly note?: string | undefined;
};

export function CompletionList(props: RowListProps) {
  const popup = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keepAbove(popup.current, popup.current?.parentElement ?? null), [props.rows]);
  return (
    <div class="completion" ref={popup}>
      <RowList {...props} />
    </div>
  );
}

/** The chosen row stays in view. */
export function RowList({ id, label, rows, chosen, note }: RowListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector(".completion-chosen")?.scrollIntoView({ block: "nearest" });
  }, [rows, chosen]);
  return (
    <>
      <div class="completion-rows" id={id} role="listbox" aria-label={label} ref={list}>
        {rows.map((row, index) => (
          <Row key={row.key} id={`${id}-${index}`} row={row} isChosen={index === chosen} />
        ))}
      </div>
      <div class="completion-note" role="status">
        {note}
      </div>
    </>
  );
}

type RowProps = { readonly id: string; readonly row: ListRow; readonly isChosen: boolean };

function Row({ id, row, isChosen }: RowProps) {
  const { icon, name, marks = [], detail, title, label, group, isCurrent = isChosen, choose } = row;
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
        aria-label={label}
        aria-selected={isCurrent}
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
