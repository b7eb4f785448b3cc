/** Keyboard in the transcript: moves between entries, and the rows that must stay mounted for focus and selection. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import type { Entry } from "../../state/state.ts";
import { findRow, keyOfRow, rowAround } from "./entry-row.tsx";

type Move = "first" | "last" | "previous" | "next";

type KeyTargets = {
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly rows: readonly Entry[];
  readonly toFirst: () => void;
  /** The user selects everything, including messages that are not loaded. */
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
}: KeyTargets): (event: KeyboardEvent) => void {
  return (event) => {
    if (selectsAll(event)) onSelectAll();
    const move = moveOf(event);
    if (move === undefined) return;
    if (move === "first") {
      event.preventDefault();
      return toFirst();
    }
    const index = indexAfter(move, rows, keyOfRow(rowAround(document.activeElement)));
    const entry = rows[index];
    if (entry === undefined) return;
    event.preventDefault();
    // The list scrolls by itself: it may still be scrolling to another row.
    if (move === "last") toEnd();
    else list.current?.scrollToIndex(index, { align: "nearest" });
    focus(entry.key);
  };
}

function selectsAll({ target, key, ctrlKey, metaKey, defaultPrevented }: KeyboardEvent): boolean {
  return !defaultPrevented && (ctrlKey || metaKey) && key.toLowerCase() === "a" && !isField(target);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Undefined for other keys, and for all keys in a text field. */
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

/** Index of the target row; out of range when there is none. */
function indexAfter(move: Exclude<Move, "first">, rows: readonly Entry[], from: string | undefined): number {
  const last = rows.length - 1;
  const index = rows.findIndex(({ key }) => key === from);
  if (move === "last" || index < 0) return last;
  return move === "previous" ? index - 1 : index + 1;
}

type RowFocus = {
  /** Key of the row that gets the focus next. The list must mount it. */
  readonly wanted: string | undefined;
  readonly want: (key: string | undefined) => void;
  /** Call after rows were measured: before that they are hidden and take no focus. */
  readonly settle: () => void;
};

/** Moves the focus to a row that the list may have to mount and measure first. */
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

/** Keys of the rows that must stay mounted: the focused one, and the two ends of the selection. */
export function useKeptKeys(list: RefObject<HTMLElement | null>): readonly string[] {
  const [kept, keep] = useState<readonly string[]>([]);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const update = (): void => {
      const keys = keysToKeep(element);
      keep((before) => (before.join() === keys.join() ? before : keys));
    };
    document.addEventListener("selectionchange", update);
    element.addEventListener("focusin", update);
    element.addEventListener("focusout", update);
    return () => {
      document.removeEventListener("selectionchange", update);
      element.removeEventListener("focusin", update);
      element.removeEventListener("focusout", update);
    };
  }, [list]);
  return kept;
}

function keysToKeep(list: HTMLElement): readonly string[] {
  const selection = document.getSelection();
  // A caret counts too: Shift and a click elsewhere select from it.
  const ends = selection === null ? [] : [selection.anchorNode, selection.focusNode];
  const rows = [document.activeElement, ...ends].filter((node) => list.contains(node)).map(rowAround);
  return [...new Set(rows.map(keyOfRow).filter((key) => key !== undefined))];
}
