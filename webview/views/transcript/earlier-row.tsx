/** The line over the first message of a long session: how much is earlier, and the way to it without scrolling. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { earlierOf } from "../../state/earlier.ts";
import type { EarlierState, PanelState } from "../../state/state.ts";
import { hidesNextPage } from "../../state/summaries.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

/** Its height, as in transcript.css: the rows below must not move when it says something else. Pixels. */
export const EARLIER_PX = 32;

type EarlierRowProps = { readonly earlier: EarlierState; readonly onAsk: () => void };

export function EarlierRow({ earlier, onAsk }: EarlierRowProps) {
  const row = useRef<HTMLDivElement>(null);
  const isEnd = earlier.type === "none-left";
  const hadFocus = useRef(false as boolean);
  useLayoutEffect(() => {
    // The button that had the focus is gone.
    if (isEnd && hadFocus.current) row.current?.closest<HTMLElement>(".transcript")?.focus({ preventScroll: true });
  }, [isEnd]);
  return (
    <div class="earlier" ref={row}>
      {isEnd ? (
        <span class="earlier-text">Beginning of the conversation</span>
      ) : (
        <button
          type="button"
          class="earlier-button"
          aria-busy={earlier.type === "asked"}
          title={earlier.type === "failed" ? earlier.problem : undefined}
          onClick={onAsk}
          onFocus={() => {
            hadFocus.current = true;
          }}
          onBlur={() => {
            hadFocus.current = false;
          }}
        >
          <Words earlier={earlier} />
        </button>
      )}
    </div>
  );
}

function Words({ earlier }: { readonly earlier: Exclude<EarlierState, { readonly type: "none-left" }> }) {
  switch (earlier.type) {
    case "asked":
      return (
        <>
          <Icon name="loading" spin /> <span class="earlier-text">Loading earlier messages…</span>
        </>
      );
    case "failed":
      return (
        <>
          <Icon name="warning" /> <span class="earlier-text">Retry earlier messages</span>
        </>
      );
    case "there":
      return (
        <>
          <Icon name="chevron-up" />{" "}
          <span class="earlier-text">
            {earlier.messages.toLocaleString("en")} earlier {earlier.messages === 1 ? "message" : "messages"}
          </span>
        </>
      );
  }
}

/** Asks for earlier messages as the user comes near the first one that is there, or wants to see the very first. */

/** So near to the first message the next page is asked for, so that it is there before it is missed. Views. */
const NEAR_VIEWS = 1.5;

export type Earlier = {
  /** Asks for a page, also after one that failed. */
  readonly ask: () => void;
  readonly askAll: () => void;
  /** Goes to the very first message, which may have to be fetched with all others. */
  readonly toFirst: () => void;
  /** The user does not want to go there any more. */
  readonly stay: () => void;
  /** To be called when rows were measured. */
  readonly look: () => void;
  readonly onScroll: () => void;
};

/** `showFirst` goes to the first of the rows that are there. */
export function useEarlier(scroller: RefObject<HTMLElement | null>, state: PanelState, showFirst: () => void): Earlier {
  const { store, post } = usePanel();
  const { earlier } = state;
  /** On the way to the very first message. */
  const wantsFirst = useRef(false as boolean);
  /** What was asked for is not on screen yet. */
  const isAsking = useRef(false as boolean);
  /** The list has been taken to its place. */
  const isPlaced = useRef(false as boolean);

  const ask = (all: boolean): void => {
    const before = earlierOf(earlier)?.before;
    if (before === undefined || earlier?.type === "asked" || isAsking.current) return;
    isAsking.current = true;
    store.apply([{ kind: "earlier-asked", before }]);
    // A page that nothing would be seen of is no answer to scrolling up.
    post({ type: "earlier", before, ...((all || hidesNextPage(state)) && { all: true }) });
  };
  const look = (): void => {
    const element = scroller.current;
    if (element === null || earlier?.type !== "there") return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    if (!isPlaced.current && scrollHeight > clientHeight) return;
    if (wantsFirst.current || scrollTop < clientHeight * NEAR_VIEWS) ask(wantsFirst.current);
  };
  useEffect(() => {
    isAsking.current = false;
    if (earlier?.type === "failed") wantsFirst.current = false;
    if (wantsFirst.current && earlierOf(earlier) === undefined) {
      wantsFirst.current = false;
      showFirst();
    }
    look();
  }, [earlier]);
  return {
    ask: () => ask(false),
    askAll: () => ask(true),
    toFirst: () => {
      wantsFirst.current = earlierOf(earlier) !== undefined;
      if (wantsFirst.current) ask(true);
      showFirst();
    },
    stay: () => {
      wantsFirst.current = false;
    },
    look,
    onScroll: () => {
      isPlaced.current = true;
      look();
    },
  };
}
