/** Copies the selection, including entries inside it that the virtual list has not mounted, and blocks out of view. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fillForCopy } from "../../markdown/markdown-view.tsx";
import { contentText } from "../../state/content-text.ts";
import type { Entry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { keyOfRow, rowAround } from "./entry-row.tsx";

/**
 * Copies selections in `list` while its view is mounted. `entries`: all rows, in order. The browser copies by itself when
 * the whole selection is in the page. The document listens: a selection of everything starts before the list.
 */
export function useCopySelected(list: RefObject<HTMLElement | null>, entries: readonly Entry[]): void {
  const latest = useRef(entries);
  latest.current = entries;
  useEffect(() => {
    const onCopy = (event: ClipboardEvent): void => {
      const text = list.current === null ? undefined : selectedText(list.current, latest.current);
      if (text === undefined) return;
      event.preventDefault();
      event.clipboardData?.setData("text/plain", text);
    };
    document.addEventListener("copy", onCopy);
    return () => document.removeEventListener("copy", onCopy);
  }, [list]);
}

/** Undefined when the browser can copy the selection by itself. */
function selectedText(list: HTMLElement, entries: readonly Entry[]): string | undefined {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(list)) return undefined;
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
    default:
      return entry.text;
  }
}
