/** Takes the keyboard's focus to a row, which may have to be drawn and measured first. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findRow } from "./entry-row.tsx";

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
