/** Follows the end of what grows, until the user reads further up. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import type { ScrollAnchor } from "../../panel-memory.ts";
import type { EarlierState, Entry } from "../../state/state.ts";
import { usePanel } from "../panel-context.ts";

/** Nearer to the end than this counts as being there. Pixels. */
const END_SLACK_PX = 40;

export type Following = {
  /** The end is out of view. */
  readonly away: boolean;
  /** Whether the end is followed at this moment. */
  readonly follows: () => boolean;
  /** Goes to the end and follows it from now on. */
  readonly toEnd: () => void;
  /** To be called after anything became higher or lower. */
  readonly keep: () => void;
  readonly onScroll: () => void;
};

export function useFollowing(scroller: RefObject<HTMLElement | null>, startsAtEnd: boolean): Following {
  const follows = useRef(startsAtEnd);
  const lastTop = useRef(0);
  const [away, setAway] = useState(false);
  const act = useMemo(() => {
    const scrollToEnd = (): void => {
      const element = scroller.current;
      if (element !== null) element.scrollTop = element.scrollHeight;
    };
    const look = (): void => {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop, scrollHeight, clientHeight } = element;
      const distance = scrollHeight - scrollTop - clientHeight;
      const before = lastTop.current;
      const upwards = scrollTop < before;
      lastTop.current = scrollTop;
      // Only the user scrolls up while there is more below; what grew meanwhile is no reason to stay behind.
      if (distance < 1 || (distance < END_SLACK_PX && scrollTop > before)) follows.current = true;
      else if (upwards) follows.current = false;
      setAway(!follows.current && distance >= END_SLACK_PX);
    };
    return {
      follows: () => follows.current,
      toEnd: () => {
        follows.current = true;
        scrollToEnd();
      },
      keep: () => {
        if (follows.current) scrollToEnd();
        else look();
      },
      onScroll: look,
    };
  }, [scroller]);
  useEffect(() => {
    const element = scroller.current;
    // What the user opens stays where it is, and what is in it unfolds below.
    const stay = ({ target }: Event): void => {
      if (target instanceof Element && target.closest("[aria-expanded]")) follows.current = false;
    };
    element?.addEventListener("click", stay, { capture: true });
    return () => element?.removeEventListener("click", stay, { capture: true });
  }, [scroller]);
  return { ...act, away };
}

/** Where the user was reading further up, over the time in which the panel is hidden or shows something else. */

export type ReadingPlace = {
  /** The conversation was left at its end, or never seen before. */
  readonly isEnd: boolean;
  /** For every scroll event: the place is kept if the list goes away before it has come to rest. */
  readonly follow: (rows: readonly Entry[], isEnd: boolean) => void;
  /** For the end of scrolling: keeps the place. */
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
  const unkept = useRef<(() => ScrollAnchor | undefined) | undefined>(undefined);
  const follow = (now: readonly Entry[], isEnd: boolean): void => {
    const handle = list.current;
    // The list handles a scroll event later than its parent does.
    if (handle !== null) unkept.current = () => (isEnd ? undefined : anchorOf(handle, now));
  };
  const anchorOf = (handle: VirtualizerHandle, now: readonly Entry[]): ScrollAnchor | undefined => {
    const { scrollOffset } = handle;
    const index = handle.findItemIndex(scrollOffset);
    const key = now[index]?.key;
    const offset = scrollOffset - startPx - handle.getItemOffset(index);
    return key === undefined ? undefined : { epoch: panel.epoch, key, offset };
  };
  const keep = (): void => {
    if (unkept.current !== undefined) memory.anchor = unkept.current();
    unkept.current = undefined;
  };
  const note = (now: readonly Entry[], isEnd: boolean): void => {
    follow(now, isEnd);
    keep();
  };
  useLayoutEffect(() => keep, []);
  return { isEnd: place === undefined, follow, note };
}

/** Lets the list keep its place when earlier messages are put before it. */

export type Prepended = {
  readonly rows: readonly Entry[];
  /** The rows are those of the drawing before, with others before them and nothing else new. */
  readonly shift: boolean;
};

/**
 * What has come at the end at the same time is shown with the next drawing, at once: the list takes all rows that are
 * new in one drawing for earlier ones, or none.
 */
export function usePrepended(all: readonly Entry[], earlier: EarlierState | undefined): Prepended {
  const before = useRef({ rows: all, earlier });
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const last = before.current.rows.at(-1)?.key;
  const place = earlier === before.current.earlier ? -1 : all.findLastIndex(({ key }) => key === last);
  const shift = place >= before.current.rows.length;
  const rows = shift ? all.slice(0, place + 1) : all;
  const isPart = rows.length < all.length;
  useLayoutEffect(() => {
    before.current = { rows, earlier };
    if (isPart) drawAgain(undefined);
  });
  return { rows: isPart ? rows : all, shift };
}
