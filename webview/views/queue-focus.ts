/** Keeps the focus among the queued messages while they move and go away. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { QueuedPrompt } from "../panel-protocol.ts";

type FocusedRow = { readonly id: string; readonly place: number };

/**
 * Who works in the list with the keyboard stays in it when the button under the focus goes away or moves: the same
 * message has the focus then, else the one in its place, else the composer. The list's rows bear `data-queued`, the id.
 */
export function useFocusKept(queue: readonly QueuedPrompt[]): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  const focused = useRef<FocusedRow | undefined>(undefined);
  useLayoutEffect(() => {
    const onFocusIn = ({ target }: FocusEvent): void => {
      const place = rowsOf(list.current).findIndex((row) => target instanceof Node && row.contains(target));
      const id = rowsOf(list.current)[place]?.dataset["queued"];
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
    const row = rows.find(({ dataset }) => dataset["queued"] === was.id) ?? rows[was.place] ?? rows.at(-1);
    const next = row?.querySelector<HTMLElement>("textarea, button");
    (next ?? document.querySelector<HTMLElement>(".composer textarea"))?.focus();
  }, [queue]);
  return list;
}

function rowsOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-queued]") ?? [])];
}
