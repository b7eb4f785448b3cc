/** Keeps the focus among the rows of a list while they move and go away. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type FocusedRow = { readonly id: string; readonly place: number };

export type FocusPlaces = {
  /** A selector of what takes the focus in a row. */
  readonly inRow: string;
  /** A selector of what takes it when no row is left. */
  readonly otherwise: string;
};

/**
 * Who works in the list with the keyboard stays in it when the button under the focus goes away or moves: the same row has
 * the focus then, else the one in its place, else what is named for that. Its rows bear `data-row`, an id; `shown`
 * changes with them.
 */
export function useFocusKept<List extends HTMLElement>(
  shown: unknown,
  { inRow, otherwise }: FocusPlaces,
): RefObject<List | null> {
  const list = useRef<List>(null);
  const focused = useRef<FocusedRow | undefined>(undefined);
  useLayoutEffect(() => {
    const onFocusIn = ({ target }: FocusEvent): void => {
      const place = rowsOf(list.current).findIndex((row) => target instanceof Node && row.contains(target));
      const id = rowsOf(list.current)[place]?.dataset["row"];
      focused.current = id === undefined ? undefined : { id, place };
    };
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, []);
  useLayoutEffect(() => {
    const was = focused.current;
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (was === undefined || !isLost || !document.hasFocus()) return;
    const rows = rowsOf(list.current);
    const row = rows.find(({ dataset }) => dataset["row"] === was.id) ?? rows[was.place] ?? rows.at(-1);
    const next = row?.querySelector<HTMLElement>(inRow);
    (next ?? document.querySelector<HTMLElement>(otherwise))?.focus();
  }, [shown]);
  return list;
}

function rowsOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
}
