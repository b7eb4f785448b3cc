/** Where the user was reading further up, over the time in which the panel is hidden or shows something else. */
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import type { Entry } from "../../state/state.ts";
import { usePanel } from "../panel-context.ts";

export type ReadingPlace = {
  /** The conversation was left at its end, or never seen before. */
  readonly isEnd: boolean;
  /** To be called when scrolling has come to rest. */
  readonly note: (rows: readonly Entry[], isEnd: boolean) => void;
};

/** Goes back, at the first drawing, to where the user was. `startPx`: the space over the first row. */
export function useReadingPlace(
  list: RefObject<VirtualizerHandle | null>,
  rows: readonly Entry[],
  startPx: number,
): ReadingPlace {
  const panel = usePanel();
  const { memory } = panel;
  const place = useMemo(() => {
    const { anchor } = memory;
    const index = anchor?.epoch === panel.epoch ? rows.findIndex(({ key }) => key === anchor.key) : -1;
    return anchor !== undefined && index >= 0 ? { index, offset: anchor.offset } : undefined;
  }, []);
  useLayoutEffect(() => {
    if (place !== undefined) list.current?.scrollToIndex(place.index, { align: "start", offset: place.offset });
  }, []);
  const note = (now: readonly Entry[], isEnd: boolean): void => {
    if (list.current === null) return;
    const { scrollOffset } = list.current;
    const index = list.current.findItemIndex(scrollOffset);
    const key = now[index]?.key;
    const offset = scrollOffset - startPx - list.current.getItemOffset(index);
    memory.anchor = isEnd || key === undefined ? undefined : { epoch: panel.epoch, key, offset };
  };
  return { isEnd: place === undefined, note };
}
