/** Line above the first message of a long session, and the loading of earlier pages. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { earlierOf } from "../../state/earlier.ts";
import type { EarlierState, PanelState } from "../../state/state.ts";
import { hidesNextPage } from "../../state/summaries.ts";
import { formatNumber, t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

/** Height of the line, as in transcript.css: the rows below it must not move with its text. Pixels. */
export const EARLIER_PX = 32;

type EarlierRowProps = { readonly earlier: EarlierState; readonly onAsk: () => void };

export function EarlierRow({ earlier, onAsk }: EarlierRowProps) {
  const isEnd = earlier.type === "none-left";
  return (
    <div class="earlier">
      {isEnd ? (
        <span class="earlier-text">{t("Beginning of the conversation")}</span>
      ) : (
        <button
          type="button"
          class="earlier-button"
          aria-busy={earlier.type === "loading"}
          title={earlier.type === "failed" ? earlier.problem : undefined}
          onClick={onAsk}
        >
          <Label earlier={earlier} />
        </button>
      )}
    </div>
  );
}

function Label({ earlier }: { readonly earlier: Exclude<EarlierState, { readonly type: "none-left" }> }) {
  switch (earlier.type) {
    case "loading":
      return (
        <>
          <Icon name="loading" spin /> <span class="earlier-text">{t("Loading earlier messages…")}</span>
        </>
      );
    case "failed":
      return (
        <>
          <Icon name="warning" /> <span class="earlier-text">{t("Retry Earlier Messages")}</span>
        </>
      );
    case "available":
      return (
        <>
          <Icon name="chevron-up" />{" "}
          <span class="earlier-text">
            {earlier.messages === 1
              ? t("1 earlier message")
              : t("{0} earlier messages", formatNumber(earlier.messages))}
          </span>
        </>
      );
  }
}

/** Distance from the first message at which the next page is requested. Heights of the view. */
const NEAR_VIEWS = 1.5;

type Earlier = {
  /** Requests a page, also after a failure. */
  readonly ask: () => void;
  readonly askAll: () => void;
  /** Scrolls to the first message of the session, and loads everything before it. */
  readonly toFirst: () => void;
  /** Cancels `toFirst`. */
  readonly stay: () => void;
  /** Call after rows were measured. */
  readonly check: () => void;
  readonly onScroll: () => void;
};

/** Requests earlier pages when the user nears the first message. `showFirst` scrolls to the first loaded row. */
export function useEarlier(scroller: RefObject<HTMLElement | null>, state: PanelState, showFirst: () => void): Earlier {
  const { store, post } = usePanel();
  const { earlier } = state;
  const wantsFirst = useRef(false as boolean);
  /** The requested page is not on screen yet. */
  const isAsking = useRef(false as boolean);
  /** The list has its scroll position. */
  const isPlaced = useRef(false as boolean);

  const ask = (all: boolean): void => {
    const before = earlierOf(earlier)?.before;
    if (before === undefined || earlier?.type === "loading" || isAsking.current) return;
    isAsking.current = true;
    store.apply([{ kind: "earlier-asked", before }]);
    // A page under a folded summary would show nothing.
    post({ type: "earlier", before, ...((all || hidesNextPage(state)) && { all: true }) });
  };
  const check = (): void => {
    const element = scroller.current;
    if (element === null || earlier?.type !== "available") return;
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
    check();
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
    check,
    onScroll: () => {
      isPlaced.current = true;
      check();
    },
  };
}
