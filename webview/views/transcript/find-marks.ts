/** Marks hits of the search in the rows of the page, without a change of their DOM. */
import { texOf } from "../../markdown/math.ts";
import { comparable, type Hit, placesOf } from "../../state/find.ts";
import { findRow, keyOfRow } from "./entry-row.tsx";

/** Elements whose text the search knows. */
const SEARCHED = [
  ".bubble",
  ".markdown",
  ".terminal-output",
  ".tool-links",
  ".diff-added .diff-text",
  ".diff-removed .diff-text",
  ".tool-card > .fold-summary > .tool-title",
  ".tool-card > .fold > .fold-summary > .tool-title",
  ".task > .fold-summary > .tool-title",
  ".notice",
  ".turn-end",
].join();
/** Parts of them that are no text of the entry. */
const IGNORED = ".summary-text, math, .code-toolbar, .text-button, .tool-host, .turn-steps";
/** No hit reaches from one of these to the next. */
const BLOCKS = "p, li, td, th, pre, h1, h2, h3, h4, h5, h6, div, button";
/** A button of a row that shows more of its text. */
const OPENERS = "[data-hides]";

/** Names of the highlights, as in panel.css. */
const HITS = "hermes-find";
const CURRENT = "hermes-find-current";

/** Ranges of the hits in a row, in order. `wanted` is comparable. */
function rangesIn(row: HTMLElement, wanted: string): readonly Range[] {
  const nodes: { readonly node: Node; readonly start: number }[] = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  let text = "";
  let block: Element | null | undefined;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const value = node.nodeValue ?? texOf(node);
    if (value === undefined) continue;
    const parent = node.parentElement;
    if (parent === null || parent.closest(SEARCHED) === null || parent.closest(IGNORED) !== null) continue;
    const own = parent.closest(BLOCKS);
    if (own !== block) text += "\0";
    block = own;
    nodes.push({ node, start: text.length });
    text += comparable(value);
  }
  let index = 0;
  const pointAt = (place: number): readonly [Node, number] | undefined => {
    while ((nodes[index + 1]?.start ?? Number.POSITIVE_INFINITY) <= place) index += 1;
    const found = nodes[index];
    return found && [found.node, place - found.start];
  };
  return placesOf(text, wanted).flatMap((place) => {
    const [first, last] = [pointAt(place), pointAt(place + wanted.length - 1)];
    if (first === undefined || last === undefined) return [];
    const range = document.createRange();
    // A formula is found by its source, and marked as a whole.
    if (first[0] instanceof Text) range.setStart(...first);
    else range.setStartBefore(first[0]);
    if (last[0] instanceof Text) range.setEnd(last[0], last[1] + 1);
    else range.setEndAfter(last[0]);
    return [range];
  });
}

export function markHits(list: HTMLElement, query: string, current: Hit | undefined): void {
  const wanted = comparable(query);
  const others: Range[] = [];
  let marked: Range | undefined;
  for (const row of wanted === "" ? [] : list.querySelectorAll<HTMLElement>("[data-entry]")) {
    const ranges = rangesIn(row, wanted);
    const shown = keyOfRow(row) === current?.key ? rangeOf(ranges, current) : undefined;
    marked ??= shown;
    others.push(...ranges.filter((range) => range !== shown));
  }
  CSS.highlights.set(HITS, new Highlight(...others));
  CSS.highlights.set(CURRENT, marked === undefined ? new Highlight() : new Highlight(marked));
}

export function removeMarks(): void {
  CSS.highlights.delete(HITS);
  CSS.highlights.delete(CURRENT);
}

/** The card may show less than the state has. */
function rangeOf(ranges: readonly Range[], hit: Hit | undefined): Range | undefined {
  return ranges[hit?.nth ?? 0] ?? ranges.at(-1);
}

/**
 * Opens folds until the row shows the hit, then scrolls to it. False while the row changes. `places`: calls and tasks
 * inside the row with hits, as `placesInside`.
 */
export function showHit(list: HTMLElement, query: string, hit: Hit, places: ReadonlySet<string>): boolean {
  const row = findRow(list, hit.key);
  if (row === undefined) return false;
  const ranges = rangesIn(row, comparable(query));
  const folds = hit.nth < ranges.length ? [] : [...row.querySelectorAll<HTMLElement>(OPENERS)];
  const openers = folds.filter((fold) => fold.closest(IGNORED_FOLDS) === null && isOnTheWay(fold, places));
  for (const opener of openers) opener.click();
  if (openers.length > 0) return false;
  return !scrollInto(list, row, rangeOf(ranges, hit));
}

/** Folds without text that the search knows. */
const IGNORED_FOLDS = ".summary-text, .verdicts";

/** False for a fold of a call or a task inside the row without a hit. */
function isOnTheWay(fold: HTMLElement, places: ReadonlySet<string>): boolean {
  const inside = fold.closest<HTMLElement>(".nested-calls [data-tool-call], .task");
  return inside === null || places.has(inside.dataset["toolCall"] ?? inside.dataset["task"] ?? "");
}

/** Scrolls the list, and boxes inside the row, to the range, or else to the row. True when something moved. */
function scrollInto(list: HTMLElement, row: HTMLElement, range: Range | undefined): boolean {
  let hasMoved = false;
  const target = range ?? row;
  const start = range?.startContainer.parentElement ?? row;
  for (let box: HTMLElement | null = start; box !== null && list.contains(box); box = box.parentElement) {
    const [place, view] = [target.getBoundingClientRect(), box.getBoundingClientRect()];
    const before = [box.scrollTop, box.scrollLeft];
    const isBox = box === list || ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (!isBox) continue;
    if (place.top < view.top || place.top + Math.min(place.height, view.height) > view.bottom) {
      box.scrollTop += place.top - view.top - Math.max(0, view.height - place.height) / 2;
    }
    if (box !== list && (place.left < view.left || place.right > view.right)) {
      box.scrollLeft += place.left - view.left - view.width / 2;
    }
    hasMoved ||= before[0] !== box.scrollTop || before[1] !== box.scrollLeft;
  }
  return hasMoved;
}
