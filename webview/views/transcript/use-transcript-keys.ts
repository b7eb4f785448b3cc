/** The conversation by keyboard: its first and last entry, the one before and after; paging and the arrows scroll. */
import type { RefObject } from "preact";
import type { VirtualizerHandle } from "virtua";
import type { Entry } from "../../state/state.ts";
import { keyOfRow, rowAround } from "./entry-row.tsx";

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
