/** Keeps the focus while rows of a list, or parts of the panel, move and disappear. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type FocusedRow = { readonly id: string; readonly index: number };

export type FocusTargets = {
  /** Selector of the element of a row that takes the focus. */
  readonly inRow: string;
  /** Selector of the element that takes the focus when no row is left. */
  readonly otherwise: string;
};

/**
 * When the focused button moves or disappears, its row gets the focus again, else the row that took its place, else the
 * `otherwise` element. Rows have an id in `data-row`; `shown` changes with them.
 */
export function useFocusKept<List extends HTMLElement>(
  shown: unknown,
  { inRow, otherwise }: FocusTargets,
): RefObject<List | null> {
  const list = useRef<List>(null);
  const focused = useFocused((target): FocusedRow | undefined => {
    const rows = rowsOf(list.current);
    const index = rows.findIndex((row) => row.contains(target));
    const id = rows[index]?.dataset["row"];
    return id === undefined ? undefined : { id, index };
  });
  useLayoutEffect(() => {
    const was = focused.current;
    if (was === undefined || !isFocusLost()) return;
    const rows = rowsOf(list.current);
    const row = rows.find(({ dataset }) => dataset["row"] === was.id) ?? rows[was.index] ?? rows.at(-1);
    const next = row?.querySelector<HTMLElement>(inRow);
    (next ?? document.querySelector<HTMLElement>(otherwise))?.focus();
  }, [shown]);
  return list;
}

/** When the focused element of the frame is removed, the `otherwise` element takes the focus. */
export function useFocusNotLost<Frame extends HTMLElement>(otherwise: string): RefObject<Frame | null> {
  const frame = useRef<Frame>(null);
  const focused = useFocused((target) => (frame.current?.contains(target) ? target : undefined));
  useLayoutEffect(() => {
    if (focused.current?.isConnected !== false || !isFocusLost()) return;
    document.querySelector<HTMLElement>(otherwise)?.focus();
  });
  return frame;
}

/** Result of `read` for the element that got the focus last. */
function useFocused<Focused>(read: (target: Node) => Focused | undefined): RefObject<Focused | undefined> {
  const focused = useRef<Focused | undefined>(undefined);
  useLayoutEffect(() => {
    const onFocusIn = ({ target }: FocusEvent): void => {
      focused.current = target instanceof Node ? read(target) : undefined;
    };
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, []);
  return focused;
}

function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return document.hasFocus() && (activeElement === null || activeElement === body);
}

function rowsOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
}

/** `ref` of a field that the user has just opened by a click. */
export function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}
