/** The transcript as a virtual list: only the rows in view, and a buffer around them, are in the page. */
import type { Signal } from "@preact/signals";
import type { ComponentChildren, CSSProperties } from "preact";
import { forwardRef } from "preact/compat";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { Draft } from "../../state/attachments.ts";
import { earlierOf } from "../../state/earlier.ts";
import type { Entry, PanelState } from "../../state/state.ts";
import { finishedRows, withOpen } from "../../state/summaries.ts";
import { isUnfinished } from "../../state/tool-calls.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { EARLIER_PX, EarlierRow, useEarlier } from "./earlier-row.tsx";
import { EntryRow } from "./entry-row.tsx";
import { FindBar, useFind } from "./find-bar.tsx";
import { useFollowing, usePrepended, useReadingPlace } from "./use-scroll-position.ts";
import { useCopySelected, useKeptKeys, useRowFocus, useTranscriptKeys } from "./use-transcript-keys.ts";
import { MessageEdits } from "./user-message.tsx";

/** Buffer before and after the view. Pixels. */
const BUFFER_PX = 400;
/** Limit of rows that are all in the page, where Tab and a selection reach them. */
const WHOLE_ROWS = 40;
/** Space above the first row, as in transcript.css. Pixels. */
const TOP_PX = 10;

type RowsContainerProps = { readonly style: CSSProperties; readonly children: ComponentChildren };

/** Holds the mounted rows and has the height of all rows. */
const RowsContainer = forwardRef<HTMLDivElement, RowsContainerProps>(function RowsContainer({ style, children }, ref) {
  // The library disables clicks while it scrolls, which would be always while an answer grows.
  return (
    <div ref={ref} style={{ ...style, pointerEvents: "auto" }}>
      {children}
    </div>
  );
});

/** Mounted once for each session: its hooks hold state of that session's rows. */
export function Transcript() {
  const { store } = usePanel();
  const state = store.shown.value;
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const finished = useMemo(() => finishedRows(state), [state.entries, state.openSummaries, state.open === undefined]);
  const { rows, shift } = usePrepended(withOpen(finished, state), state.earlier);
  const topPx = state.earlier === undefined ? TOP_PX : TOP_PX + EARLIER_PX;
  const reading = useReadingPlace(list, rows, topPx);
  const { away, follows, keep, toEnd, onScroll } = useFollowing(scroller, reading.isEnd);
  const focus = useRowFocus(scroller);
  const kept = useKeptKeys(scroller);
  const find = useFind(state, { scroller, list, rows });
  const mounted = mountedIndexes(rows, [...kept, focus.wanted, find?.current?.key]);
  const jump = (): void => {
    // The list may still be scrolling to another row.
    list.current?.scrollTo(Number.MAX_SAFE_INTEGER);
    earlier.stay();
    toEnd();
  };
  const edits = useMemo(() => new Map<string, Signal<Draft>>(), []);
  const earlier = useEarlier(scroller, state, () => {
    list.current?.scrollTo(0);
    focus.want(rows[0]?.key);
  });
  const { toFirst, askAll: onSelectAll } = earlier;
  const onKeyDown = useTranscriptKeys({ list, rows, toFirst, onSelectAll, toEnd: jump, focus: focus.want });
  const count = earlierOf(state.earlier) === undefined ? rows.length : -1;
  const row = useCallback(
    (entry: Entry, index: number) => <EntryRow key={entry.key} entry={entry} position={index + 1} count={count} />,
    [count],
  );
  useLayoutEffect(keep, []);
  useShowNew(rows, toEnd);
  useCopySelected(scroller, rows);
  return (
    <MessageEdits.Provider value={edits}>
      <div class="transcript-frame">
        {find && <FindBar find={find} earlier={state.earlier} onLoadAll={onSelectAll} onResize={keep} />}
        <div
          class="transcript"
          role="log"
          aria-live="off"
          aria-label={t("Conversation with {0}", state.agentName)}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
          tabIndex={0}
          ref={scroller}
          onScroll={() => {
            onScroll();
            earlier.onScroll();
            reading.follow(rows, follows());
          }}
          onKeyDown={onKeyDown}
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
              earlier.check();
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
    <button
      type="button"
      class="jump"
      title={t("Jump to the Latest")}
      aria-label={t("Jump to the Latest")}
      onClick={act}
    >
      <Icon name="arrow-down" />
    </button>
  );
}

/** Scrolls to a new message or restore of the user, even when the agent's first rows came with it. */
function useShowNew(rows: readonly Entry[], toEnd: () => void): void {
  const key = rows.findLast(({ type }) => type === "user" || type === "restored")?.key;
  const shown = useRef(key);
  useLayoutEffect(() => {
    if (key !== undefined && shown.current !== key) toEnd();
    shown.current = key;
  }, [key]);
}

/** Indexes of the rows that stay mounted outside the view. `keys`: entries that must. */
function mountedIndexes(rows: readonly Entry[], keys: readonly (string | undefined)[]): readonly number[] {
  if (rows.length <= WHOLE_ROWS) return rows.map((_, index) => index);
  return keys.map((key) => rows.findLastIndex((row) => row.key === key)).filter((index) => index >= 0);
}

/** Shows that the agent works while nothing else does. */
function Working({ state, onChange }: { readonly state: PanelState; readonly onChange: () => void }) {
  const { running, activity, open, permissions, questions, entries } = state;
  const last = entries.at(-1);
  const isBusy = last?.type === "notice" ? last.retry !== undefined : last !== undefined && isUnfinished(last);
  const isShown = running && !open && permissions.length === 0 && questions.length === 0 && !isBusy;
  useLayoutEffect(onChange, [isShown]);
  if (!isShown) return null;
  return (
    <div class="working">
      <Icon name="loading" spin /> {activity === "thinking" ? t("Thinking…") : t("Working…")}
    </div>
  );
}
