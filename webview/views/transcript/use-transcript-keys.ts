/**
 * Keyboard in the transcript: moves between entries, copies the selection, and keeps the rows mounted that focus or
 * selection needs.
 */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import { fillForCopy } from "../../markdown/markdown-view.tsx";
import { copyWithTex } from "../../markdown/math.ts";
import { contentText } from "../../state/content-text.ts";
import type { Entry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { letterOf } from "../keys.ts";
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

function selectsAll(event: KeyboardEvent): boolean {
  const { target, ctrlKey, metaKey, defaultPrevented } = event;
  return !defaultPrevented && (ctrlKey || metaKey) && letterOf(event) === "a" && !isField(target);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Undefined for other keys, and for all keys in a text field. */
function moveOf({ target, key, altKey, shiftKey, metaKey, defaultPrevented }: KeyboardEvent): Move | undefined {
  if (defaultPrevented || shiftKey || metaKey || isField(target)) return undefined;
  return altKey ? MOVES_WITH_ALT[key] : MOVES[key];
}

const MOVES: Readonly<Record<string, Move>> = { Home: "first", End: "last" };
const MOVES_WITH_ALT: Readonly<Record<string, Move>> = { ArrowUp: "previous", ArrowDown: "next" };

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
    const unmounted = new AbortController();
    const { signal } = unmounted;
    document.addEventListener("selectionchange", update, { signal });
    for (const type of ["focusin", "focusout"]) element.addEventListener(type, update, { signal });
    return () => unmounted.abort();
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

/**
 * Copies selections in `list` while its view is mounted. `entries`: all rows, in order. The browser copies by itself when
 * the whole selection is in the page. The document listens: a selection of everything starts before the list.
 */
export function useCopySelected(list: RefObject<HTMLElement | null>, entries: readonly Entry[]): void {
  const latest = useRef(entries);
  latest.current = entries;
  useEffect(() => {
    const onCopy = (event: ClipboardEvent): void => {
      if (list.current === null) return;
      const text = selectedText(list.current, latest.current);
      const copied = text === undefined ? selectedFormulas(list.current) : { text };
      if (copied === undefined) return;
      event.preventDefault();
      event.clipboardData?.setData("text/plain", copied.text);
      if ("html" in copied) event.clipboardData?.setData("text/html", copied.html);
    };
    document.addEventListener("copy", onCopy);
    return () => document.removeEventListener("copy", onCopy);
  }, [list]);
}

function selectedRange(list: HTMLElement): Range | undefined {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  return range.intersectsNode(list) ? range : undefined;
}

function selectedFormulas(list: HTMLElement): ReturnType<typeof copyWithTex> {
  const range = selectedRange(list)?.cloneRange();
  if (range === undefined) return undefined;
  if (!list.contains(range.startContainer)) range.setStart(list, 0);
  if (!list.contains(range.endContainer)) range.setEnd(list, list.childNodes.length);
  return copyWithTex(range);
}

/** Undefined when the browser can copy the selection by itself. */
function selectedText(list: HTMLElement, entries: readonly Entry[]): string | undefined {
  const [selection, range] = [document.getSelection(), selectedRange(list)];
  if (selection === null || range === undefined) return undefined;
  fillForCopy(list, range);
  const [from, to] = [rowAround(range.startContainer), rowAround(range.endContainer)];
  // A selection that starts before the list, or ends after it, includes all entries on that side.
  const first = from ? indexOf(entries, from) : 0;
  const last = to ? indexOf(entries, to) : entries.length - 1;
  if (first < 0 || last <= first) return undefined;
  const inPage = new Set([...list.querySelectorAll<HTMLElement>("[data-entry]")].map(keyOfRow));
  const between = entries.slice(from ? first + 1 : first, to ? last : last + 1);
  if (between.every(({ key }) => inPage.has(key))) return undefined;
  const [head, tail] = endsOf(selection, range, { from, to });
  const texts = [head, ...between.map(entryText), tail];
  return texts.filter((text) => text !== undefined && text !== "").join("\n\n");
}

function indexOf(entries: readonly Entry[], row: HTMLElement): number {
  const key = keyOfRow(row);
  return entries.findIndex((entry) => entry.key === key);
}

type EndRows = { readonly from: HTMLElement | undefined; readonly to: HTMLElement | undefined };

/** Selected text of the first and the last row. Only a real selection gives its visible lines. */
function endsOf(selection: Selection, range: Range, { from, to }: EndRows): readonly (string | undefined)[] {
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  const [head, tail] = [range.cloneRange(), range.cloneRange()];
  if (from) head.setEnd(from, from.childNodes.length);
  if (to) tail.setStart(to, 0);
  const textOf = (part: Range): string => {
    selection.removeAllRanges();
    selection.addRange(part);
    return selection.toString().trim();
  };
  const texts = [from && textOf(head), to && textOf(tail)];
  if (anchorNode && focusNode) selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
  return texts;
}

function entryText(entry: Entry): string {
  switch (entry.type) {
    case "user":
    case "answer":
    case "thought":
      return wholeText(entry.text);
    case "tool":
      return [entry.title, ...entry.content.map((part) => (part.type === "content" ? contentText(part.content) : ""))]
        .filter((text) => text !== "")
        .join("\n");
    case "summary":
      return entry.summary;
    case "group":
      return entry.calls.map(({ title }) => title).join("\n");
    default:
      return entry.text;
  }
}
