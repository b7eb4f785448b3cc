/** Find bar of the conversation: a text field, the number of hits, and the steps between hits. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { VirtualizerHandle } from "virtua";
import { holdBlocks } from "../../markdown/markdown-view.tsx";
import { earlierOf } from "../../state/earlier.ts";
import {
  type Found,
  findIn,
  type Hit,
  hitAt,
  hitNear,
  NOTHING_FOUND,
  numberOf,
  placesInside,
  prepareTexts,
} from "../../state/find.ts";
import type { EarlierState, Entry, PanelState } from "../../state/state.ts";
import { summariesOver } from "../../state/summaries.ts";
import { formatNumber, t } from "../../texts.ts";
import { Button, IconButton } from "../icon.tsx";
import { letterOf, onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { findRow } from "./entry-row.tsx";
import { markHits, removeMarks, showHit } from "./find-marks.ts";

type FindTargets = {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly rows: readonly Entry[];
};

type Find = {
  readonly query: string;
  readonly found: Found;
  /** The hit that the user went to. */
  readonly current: Hit | undefined;
  readonly search: (query: string) => void;
  /** Goes to the hit after the current one (1) or before it (-1). */
  readonly step: (by: 1 | -1) => void;
  readonly close: () => void;
};

/** The search while its bar is open; undefined while it is closed. */
export function useFind(state: PanelState, targets: FindTargets): Find | undefined {
  const { store, findRequests } = usePanel();
  const isOpen = findRequests.value > 0;
  const [query, setQuery] = useState("");
  const [current, choose] = useState<Hit | undefined>(undefined);
  const { entries, open, terminals, nestedCalls } = state;
  const found = useMemo(
    () => (isOpen ? findIn({ entries, open, terminals, nestedCalls }, query) : NOTHING_FOUND),
    [isOpen, query, entries, open, terminals, nestedCalls],
  );
  const showCurrent = (hit: Hit | undefined): void => {
    choose(hit);
    if (hit === undefined) return;
    store.apply(summariesOver(store.state, hit.key).map((key) => ({ kind: "toggle-summary", key })));
  };
  const near = (among: Found): Hit | undefined => {
    const order = [...entries, ...(open === undefined ? [] : [open])].map(({ key }) => key);
    return hitNear(among, order, current?.key ?? firstInView(targets));
  };
  const search = (next: string): void => {
    setQuery(next);
    showCurrent(near(findIn(state, next)));
  };
  const step = (by: 1 | -1): void => {
    const number = numberOf(found, current);
    showCurrent(number === undefined ? near(found) : hitAt(found, number + by));
  };
  const close = (): void => {
    findRequests.value = 0;
    setQuery("");
    choose(undefined);
  };
  useFindKeys(isOpen, step);
  usePreparedTexts(isOpen);
  useMarks(isOpen, targets.scroller, query, current);
  useReveal(targets, query, current);
  return isOpen ? { query, found, current, search, step, close } : undefined;
}

function firstInView({ list, rows }: FindTargets): string | undefined {
  const handle = list.current;
  return handle === null ? undefined : rows[handle.findItemIndex(handle.scrollOffset)]?.key;
}

/** On macOS, Ctrl+F moves the caret. */
function isFindKey(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  const isMac = navigator.userAgent.includes("Macintosh");
  const [main, other] = isMac ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  return main && !other && !altKey && !shiftKey && letterOf(event) === "f";
}

function useFindKeys(isOpen: boolean, step: (by: 1 | -1) => void): void {
  const panel = usePanel();
  const act = useRef(step);
  act.current = step;
  // The keys work as soon as the conversation is visible: an effect after the paint may come late on a busy machine.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isFindKey(event)) panel.find();
      else if (isOpen && event.key === "F3") act.current(event.shiftKey ? -1 : 1);
      else return;
      event.preventDefault();
      event.stopPropagation(); // VS Code listens at the window, and would open the search of the editor
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [isOpen, panel]);
  // At once: the end of an effect may come late, when the next conversation has opened its own bar.
  useLayoutEffect(
    () => () => {
      panel.findRequests.value = 0;
    },
    [panel],
  );
}

/** Entries whose texts are read in one task: some 10 ms. */
const SLICE = 300;

/** Reads the texts of a long conversation before the user has typed the first letter. */
function usePreparedTexts(isOpen: boolean): void {
  const { store } = usePanel();
  useEffect(() => {
    if (!isOpen) return undefined;
    let from = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = (): void => {
      const hasMore = prepareTexts(store.state, from, SLICE);
      from += SLICE;
      timer = hasMore ? setTimeout(next, 0) : undefined;
    };
    next();
    return () => clearTimeout(timer);
  }, [isOpen, store]);
}

/** Marks the hits in the page, and again when rows or blocks enter it. */
function useMarks(isOpen: boolean, scroller: RefObject<HTMLElement | null>, query: string, current: Hit | undefined) {
  useEffect(() => {
    const element = scroller.current;
    if (!isOpen || element === null) return undefined;
    let frame = 0;
    const mark = (): void => markHits(element, query, current);
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      removeMarks();
    };
  }, [isOpen, query, current]);
}

/** Limit of frames until a row is mounted, measured and unfolded. */
const MAX_FRAMES = 90;
/** Frames without a change after which the hit is in its place. */
const STILL_FRAMES = 3;

function useReveal({ scroller, list, rows }: FindTargets, query: string, current: Hit | undefined): void {
  const shown = useRef(rows);
  shown.current = rows;
  const { store } = usePanel();
  useEffect(() => {
    const element = scroller.current;
    if (current === undefined || element === null) return undefined;
    const places = placesInside(store.state, current.key, query);
    let [frame, frames, still] = [0, 0, 0];
    let release: (() => void) | undefined;
    const advance = (): void => {
      const row = findRow(element, current.key);
      const index = shown.current.findIndex(({ key }) => key === current.key);
      if (row !== undefined) release ??= holdBlocks(row);
      else if (index >= 0) list.current?.scrollToIndex(index, { align: "center" });
      still = showHit(element, query, current, places) ? still + 1 : 0;
      frames += 1;
      if (still < STILL_FRAMES && frames < MAX_FRAMES) frame = requestAnimationFrame(advance);
    };
    advance();
    return () => {
      cancelAnimationFrame(frame);
      release?.();
    };
  }, [query, current, store]);
}

type FindBarProps = {
  readonly find: Find;
  readonly earlier: EarlierState | undefined;
  readonly onLoadAll: () => void;
  /** The bar has changed the height of the list. */
  readonly onResize: () => void;
};

export function FindBar({ find, earlier, onLoadAll, onResize }: FindBarProps) {
  const { findRequests } = usePanel();
  const field = useRef<HTMLInputElement>(null);
  const before = useRef<Element | null>(null);
  const isPart = earlierOf(earlier) !== undefined;
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (activeElement !== field.current) before.current = activeElement;
    field.current?.focus();
    field.current?.select();
  }, [findRequests.value]);
  useLayoutEffect(() => {
    onResize();
    return onResize;
  }, [isPart]);
  const close = (): void => {
    find.close();
    const { current } = before;
    if (current instanceof HTMLElement && current.isConnected) current.focus({ preventScroll: true });
  };
  return (
    <search class="find-bar" aria-label={t("Find in conversation")} onKeyDown={onKeys({ Escape: close })}>
      <div class="find-line">
        <input
          type="text"
          ref={field}
          aria-label={t("Find")}
          placeholder={t("Find")}
          spellcheck={false}
          value={find.query}
          onInput={({ currentTarget }) => find.search(currentTarget.value)}
          onKeyDown={onKeys({ Enter: () => find.step(1), "shift-Enter": () => find.step(-1) })}
        />
        <span class="find-count" role="status">
          {countText(find)}
        </span>
        <IconButton
          icon="arrow-up"
          name={t("Previous Hit")}
          title={t("Previous Hit (Shift+Enter)")}
          act={() => find.step(-1)}
        />
        <IconButton icon="arrow-down" name={t("Next Hit")} title={t("Next Hit (Enter)")} act={() => find.step(1)} />
        <IconButton icon="close" name={t("Close Search")} title={t("Close (Escape)")} act={close} />
      </div>
      {isPart && (
        <div class="find-earlier">
          <span>{t("Earlier messages are not searched")}</span>
          <Button disabled={earlier?.type === "loading"} onClick={onLoadAll}>
            {earlier?.type === "loading" ? t("Loading…") : t("Load All")}
          </Button>
        </div>
      )}
    </search>
  );
}

function countText({ query, found, current }: Find): string {
  if (query.trim() === "") return "";
  if (found.total === 0) return t("No results");
  const number = numberOf(found, current);
  return t("{0} of {1}", number === undefined ? "?" : formatNumber(number), formatNumber(found.total));
}
