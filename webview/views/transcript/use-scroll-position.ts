/** Scroll position of the transcript: follows the end, survives a hidden panel, and stays when a page is prepended. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import type { ScrollAnchor } from "../../panel-memory.ts";
import type { EarlierState, Entry } from "../../state/state.ts";
import { usePanel } from "../panel-context.ts";

/** Distance from the end that counts as the end. Pixels. */
const END_SLACK_PX = 40;

type Following = {
  /** The end is out of view. */
  readonly away: boolean;
  /** The transcript scrolls with new content. */
  readonly follows: () => boolean;
  /** Scrolls to the end and follows it. */
  readonly toEnd: () => void;
  /** Call after the height of the content has changed. */
  readonly keep: () => void;
  readonly onScroll: () => void;
};

/** Follows the end of growing content until the user scrolls up. */
export function useFollowing(scroller: RefObject<HTMLElement | null>, startsAtEnd: boolean): Following {
  const follows = useRef(startsAtEnd);
  const lastTop = useRef(0);
  const [away, setAway] = useState(false);
  const act = useMemo(() => {
    const scrollToEnd = (): void => {
      const element = scroller.current;
      if (element !== null) element.scrollTop = element.scrollHeight;
    };
    const update = (): void => {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop, scrollHeight, clientHeight } = element;
      const distance = scrollHeight - scrollTop - clientHeight;
      const before = lastTop.current;
      const upwards = scrollTop < before;
      lastTop.current = scrollTop;
      // Only the user scrolls up away from the end; growing content does not.
      if (distance < 1 || (distance < END_SLACK_PX && scrollTop > before)) follows.current = true;
      else if (upwards) follows.current = false;
      setAway(!follows.current && distance >= END_SLACK_PX);
    };
    return {
      follows: () => follows.current,
      toEnd: () => {
        follows.current = true;
        setAway(false); // content that fits does not scroll
        scrollToEnd();
      },
      keep: () => {
        if (follows.current) scrollToEnd();
        else update();
      },
      onScroll: update,
    };
  }, [scroller]);
  useEffect(() => {
    const element = scroller.current;
    // A fold that the user opens stays in place and unfolds downwards.
    const stay = ({ target }: Event): void => {
      if (target instanceof Element && target.closest("[aria-expanded]")) follows.current = false;
    };
    element?.addEventListener("click", stay, { capture: true });
    return () => element?.removeEventListener("click", stay, { capture: true });
  }, [scroller]);
  return { ...act, away };
}

type ReadingPlace = {
  /** The user left the session at its end, or never saw it. */
  readonly isEnd: boolean;
  /** Call at each scroll: the position is saved when the list leaves the page before scrolling has ended. */
  readonly follow: (rows: readonly Entry[], isEnd: boolean) => void;
  /** Call when scrolling has ended: saves the position. */
  readonly note: (rows: readonly Entry[], isEnd: boolean) => void;
};

/** Restores the scroll position at the first render. `startPx`: space above the first row. */
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
  const unsaved = useRef<(() => ScrollAnchor | undefined) | undefined>(undefined);
  const follow = (now: readonly Entry[], isEnd: boolean): void => {
    const handle = list.current;
    // The list handles a scroll event after its parent.
    if (handle !== null) unsaved.current = () => (isEnd ? undefined : anchorOf(handle, now));
  };
  const anchorOf = (handle: VirtualizerHandle, now: readonly Entry[]): ScrollAnchor | undefined => {
    const { scrollOffset } = handle;
    const index = handle.findItemIndex(scrollOffset);
    const key = now[index]?.key;
    const offset = scrollOffset - startPx - handle.getItemOffset(index);
    return key === undefined ? undefined : { epoch: panel.epoch, key, offset };
  };
  const save = (): void => {
    if (unsaved.current !== undefined) memory.anchor = unsaved.current();
    unsaved.current = undefined;
  };
  const note = (now: readonly Entry[], isEnd: boolean): void => {
    follow(now, isEnd);
    save();
  };
  useLayoutEffect(() => save, []);
  return { isEnd: place === undefined, follow, note };
}

type Prepended = {
  readonly rows: readonly Entry[];
  /** The rows are those of the previous render with a page before them. */
  readonly shift: boolean;
};

/**
 * Lets the list keep its scroll position when a page is prepended. Rows that were appended at the same time wait for the
 * next render, because the list treats either all new rows of a render as prepended, or none.
 */
export function usePrepended(all: readonly Entry[], earlier: EarlierState | undefined): Prepended {
  const before = useRef({ rows: all, earlier });
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const last = before.current.rows.at(-1)?.key;
  const index = earlier === before.current.earlier ? -1 : all.findLastIndex(({ key }) => key === last);
  const shift = index >= before.current.rows.length;
  const rows = shift ? all.slice(0, index + 1) : all;
  const isPart = rows.length < all.length;
  useLayoutEffect(() => {
    before.current = { rows, earlier };
    if (isPart) drawAgain(undefined);
  });
  return { rows: isPart ? rows : all, shift };
}
