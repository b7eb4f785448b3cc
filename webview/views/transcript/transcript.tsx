/**
 * The conversation, newest at the end; it follows what grows unless the user reads further up. Only what is in view,
 * and a little around it, is in the page.
 */
import type { ComponentChildren, CSSProperties } from "preact";
import { forwardRef } from "preact/compat";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { earlierOf } from "../../state/earlier.ts";
import { finishedRows, withOpen } from "../../state/rows.ts";
import type { Entry, PanelState } from "../../state/state.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { copySelected } from "./copy-selected.ts";
import { EARLIER_PX, EarlierRow, useEarlier } from "./earlier-row.tsx";
import { EntryRow } from "./entry-row.tsx";
import { useFollowing, usePrepended, useReadingPlace } from "./use-scroll-position.ts";
import { useKeptKeys, useRowFocus, useTranscriptKeys } from "./use-transcript-keys.ts";
import { MessageEdits } from "./user-message.tsx";

/** Drawn before and after what is in view. Pixels. */
const BUFFER_PX = 400;
/** A conversation of so many rows is in the page as a whole: Tab and a selection reach all of it. */
const WHOLE_ROWS = 40;
/** Space over the first row, as in transcript.css. */
const TOP_PX = 10;

/** One for each session: what is remembered of its rows goes with it. */
export function Transcript() {
  const { store } = usePanel();
  const state = store.shown.value;
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const finished = useMemo(() => finishedRows(state), [state.entries, state.openSummaries]);
  const { rows, shift } = usePrepended(withOpen(finished, state), state.earlier);
  const topPx = state.earlier === undefined ? TOP_PX : TOP_PX + EARLIER_PX;
  const reading = useReadingPlace(list, rows, topPx);
  const { away, follows, keep, toEnd, onScroll } = useFollowing(scroller, reading.isEnd);
  const focus = useRowFocus(scroller);
  const kept = useKeptKeys(scroller);
  const mounted = mountedPlaces(rows, focus.wanted === undefined ? kept : [...kept, focus.wanted]);
  const jump = (): void => {
    // The list may still be on its way to another place.
    list.current?.scrollTo(Number.MAX_SAFE_INTEGER);
    earlier.stay();
    toEnd();
  };
  const edits = useMemo(() => new Map<string, string>(), []);
  const earlier = useEarlier(scroller, state, () => {
    const [first] = rows;
    list.current?.scrollTo(0);
    if (first !== undefined) focus.want(first.key);
  });
  const { toFirst, askAll: onSelectAll } = earlier;
  const onKeyDown = useTranscriptKeys({ list, rows, toFirst, onSelectAll, toEnd: jump, focus: focus.want });
  const count = earlierOf(state.earlier) === undefined ? rows.length : -1;
  const row = useCallback(
    (entry: Entry, index: number) => <EntryRow key={entry.key} entry={entry} position={index + 1} count={count} />,
    [count],
  );
  useLayoutEffect(keep, []);
  useShowNew(rows.at(-1), toEnd);
  return (
    <MessageEdits.Provider value={edits}>
      <div class="transcript-frame">
        <div
          class="transcript"
          role="log"
          aria-live="off"
          aria-label={`Conversation with ${state.agentName}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
          tabIndex={0}
          ref={scroller}
          onScroll={() => {
            onScroll();
            earlier.onScroll();
            reading.follow(rows, follows());
          }}
          onKeyDown={onKeyDown}
          onCopy={(event) => copySelected(event, rows)}
        >
          {state.earlier && <EarlierRow earlier={state.earlier} onAsk={earlier.ask} />}
          <Virtualizer
            ref={list}
            scrollRef={scroller}
            as={RowsContainer}
            data={rows}
            bufferSize={BUFFER_PX}
            startMargin={topPx}
            shift={shift}
            keepMounted={mounted}
            onScrollEnd={() => reading.note(rows, follows())}
            onResize={() => {
              keep();
              focus.settle();
              earlier.look();
            }}
          >
            {row}
          </Virtualizer>
          <Working state={state} onChange={keep} />
        </div>
        {away && <JumpToEnd act={jump} />}
      </div>
    </MessageEdits.Provider>
  );
}

function JumpToEnd({ act }: { readonly act: () => void }) {
  return (
    <button type="button" class="jump" title="Jump to the latest" aria-label="Jump to the latest" onClick={act}>
      <Icon name="arrow-down" />
    </button>
  );
}

/** What the user has just said or restored is at the end, wherever they were reading. */
function useShowNew(last: Entry | undefined, toEnd: () => void): void {
  const shown = useRef(last?.key);
  useLayoutEffect(() => {
    const isTheirs = last?.type === "user" || last?.type === "restored";
    if (isTheirs && shown.current !== last.key) toEnd();
    shown.current = last?.key;
  }, [last?.key]);
}

/** Indices of the rows that are in the page wherever they stand; `keys`: of entries that must be. */
function mountedPlaces(rows: readonly Entry[], keys: readonly string[]): readonly number[] {
  if (rows.length <= WHOLE_ROWS) return rows.map((_, index) => index);
  return keys.map((key) => rows.findLastIndex((row) => row.key === key)).filter((place) => place >= 0);
}

/** Holds the rows that are drawn, and is as high as all of them together. */

type RowsContainerProps = { readonly style: CSSProperties; readonly children: ComponentChildren };

export const RowsContainer = forwardRef<HTMLDivElement, RowsContainerProps>(function RowsContainer(
  { style, children },
  ref,
) {
  // The library lets nothing be clicked while it scrolls; following an answer, that would be all the time.
  return (
    <div ref={ref} style={{ ...style, pointerEvents: "auto" }}>
      {children}
    </div>
  );
});

/** Says that the agent is at work where nothing else does. */

export function Working({ state, onChange }: { readonly state: PanelState; readonly onChange: () => void }) {
  const { running, open, permissions, questions, entries } = state;
  const last = entries.at(-1);
  const busyCard = last?.type === "tool" && (last.status === "in_progress" || last.status === "pending");
  const isShown = running && !open && permissions.length === 0 && questions.length === 0 && !busyCard;
  useLayoutEffect(onChange, [isShown]);
  if (!isShown) return null;
  return (
    <div class="working">
      <Icon name="loading" spin /> Working…
    </div>
  );
}
