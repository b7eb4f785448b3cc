/** The conversation by keyboard: its first and last entry, the one before and after; paging and the arrows scroll. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import type { Entry } from "../../state/state.ts";
import { findRow, keyOfRow, rowAround } from "./entry-row.tsx";

type Move = "first" | "last" | "previous" | "next";

type Places = {
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly rows: readonly Entry[];
  readonly toFirst: () => void;
  /** Everything is selected, also what is not there yet. */
  readonly onSelectAll: () => void;
  readonly toEnd: () => void;
  readonly focus: (key: string) => void;
};

export function useTranscriptKeys({
  list,
  rows,
  toFirst,
  onSelectAll,
  toEnd,
  focus,
}: Places): (event: KeyboardEvent) => void {
  return (event) => {
    if (selectsAll(event)) onSelectAll();
    const move = moveOf(event);
    if (move === undefined) return;
    if (move === "first") {
      event.preventDefault();
      return toFirst();
    }
    const place = placeAfter(move, rows, keyOfRow(rowAround(document.activeElement)));
    const entry = rows[place];
    if (entry === undefined) return;
    event.preventDefault();
    // By the list itself, which may still be on its way to another place.
    if (move === "last") toEnd();
    else list.current?.scrollToIndex(place, { align: "nearest" });
    focus(entry.key);
  };
}

function selectsAll({ target, key, ctrlKey, metaKey, defaultPrevented }: KeyboardEvent): boolean {
  return !defaultPrevented && (ctrlKey || metaKey) && key.toLowerCase() === "a" && !isField(target);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Undefined for every other key, and for all keys in a field that is written in. */
function moveOf({ target, key, altKey, shiftKey, metaKey, defaultPrevented }: KeyboardEvent): Move | undefined {
  if (defaultPrevented || shiftKey || metaKey) return undefined;
  if (isField(target)) return undefined;
  switch (key) {
    case "Home":
      return altKey ? undefined : "first";
    case "End":
      return altKey ? undefined : "last";
    case "ArrowUp":
      return altKey ? "previous" : undefined;
    case "ArrowDown":
      return altKey ? "next" : undefined;
    default:
      return undefined;
  }
}

/** Index of the row that a move leads to; outside of the rows when there is none. */
function placeAfter(move: Exclude<Move, "first">, rows: readonly Entry[], from: string | undefined): number {
  const last = rows.length - 1;
  const place = rows.findIndex(({ key }) => key === from);
  if (move === "last" || place < 0) return last;
  return move === "previous" ? place - 1 : place + 1;
}

/** Takes the keyboard's focus to a row, which may have to be drawn and measured first. */

export type RowFocus = {
  /** Key of the row that is on its way into the page; it must be drawn wherever it stands. */
  readonly wanted: string | undefined;
  readonly want: (key: string) => void;
  /** To be called after rows were measured: until then they are hidden, and take no focus. */
  readonly settle: () => void;
};

export function useRowFocus(list: RefObject<HTMLElement | null>): RowFocus {
  const [wanted, want] = useState<string | undefined>(undefined);
  const pending = useRef(wanted);
  pending.current = wanted;
  const settle = (): void => {
    const key = pending.current;
    const row = key === undefined || list.current === null ? undefined : findRow(list.current, key);
    if (row === undefined) return;
    row.focus({ preventScroll: true });
    if (document.activeElement === row) want(undefined);
  };
  useLayoutEffect(settle, [wanted]);
  return { wanted, want, settle };
}

/** What must stay in the page when it leaves the window: the row with the focus, and those with the ends of what is selected. */

/** Keys of at most three entries. */
export function useKeptKeys(list: RefObject<HTMLElement | null>): readonly string[] {
  const [kept, keep] = useState<readonly string[]>([]);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const look = (): void => {
      const keys = keysToKeep(element);
      keep((before) => (before.join() === keys.join() ? before : keys));
    };
    document.addEventListener("selectionchange", look);
    element.addEventListener("focusin", look);
    element.addEventListener("focusout", look);
    return () => {
      document.removeEventListener("selectionchange", look);
      element.removeEventListener("focusin", look);
      element.removeEventListener("focusout", look);
    };
  }, [list]);
  return kept;
}

function keysToKeep(list: HTMLElement): readonly string[] {
  const selection = document.getSelection();
  // A mere caret, too: Shift and a click far away select from there.
  const ends = selection === null ? [] : [selection.anchorNode, selection.focusNode];
  const rows = [document.activeElement, ...ends].filter((node) => list.contains(node)).map(rowAround);
  return [...new Set(rows.map(keyOfRow).filter((key) => key !== undefined))];
}
