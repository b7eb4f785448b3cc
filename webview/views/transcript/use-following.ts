/** Follows the end of what grows, until the user reads further up. */
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

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
