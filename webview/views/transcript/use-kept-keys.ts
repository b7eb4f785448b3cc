/** What must stay in the page when it leaves the window: the row with the focus, and those with the ends of what is selected. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keyOfRow, rowAround } from "./entry-row.tsx";

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
