/** A change of one text taken over into its sibling: what the user types moves the text before the agent's edits, too. Pure. */
import { closedLines, closedSpans, hunksOfSpans, isOpen, textOf } from "./closed-lines.ts";
import { type Hunk, splitLines } from "./hunks.ts";
import { composed, type Lines, type Span, spansBetween } from "./spans.ts";

/** A text with a change of somebody else's taken over. */
export type Carried = {
  readonly text: string;
  /** What it now differs by from the text after the change. */
  readonly hunks: readonly Hunk[];
  /** False when a part of the change had no place in the text. */
  readonly complete: boolean;
};

/** The text, the other one, and where they differ, while changes of the other are taken over one by one. */
type Siblings = { readonly lines: Lines; readonly other: Lines; readonly spans: readonly Span[] };

/** A text and its sibling as they are before the change. */
export type Pair = { readonly text: string; readonly before: string; readonly hunks: readonly Hunk[] };

/**
 * Takes the change from `before` to `after` over into `text`, which differs from `before` by `hunks`. Whole lines put in
 * find their place also inside a hunk; a change of a hunk's own lines has none, is left out and becomes the hunk's.
 */
export function carryChange({ text, before, hunks }: Pair, after: string): Carried {
  const [lines = [], other = [], fresh = []] = closedLines([text, before, after]);
  let siblings: Siblings = { lines, other, spans: closedSpans(hunks, lines, other) };
  const changes = spansBetween(other, fresh);
  const left = new Set<Span>();
  for (const change of changes.toReversed()) {
    const taken = takenOver(siblings, change, fresh.slice(change.newStart, change.newEnd));
    if (taken === undefined) left.add(change);
    else siblings = taken;
  }
  const carried = textOf(siblings.lines, carriedEnd(text, before, after));
  const spans = composed(siblings.spans, shiftedBy(changes, left), siblings.lines, fresh);
  return {
    text: carried,
    hunks: hunksOfSpans(spans, splitLines(carried), splitLines(after)),
    complete: left.size === 0,
  };
}

/** The hunks when the agent itself goes on from `before` to `after`: all that it touches is up for review. */
export function withEdit({ text, before, hunks }: Pair, after: string): readonly Hunk[] {
  const [lines = [], other = [], fresh = []] = closedLines([text, before, after]);
  const spans = composed(closedSpans(hunks, lines, other), spansBetween(other, fresh), lines, fresh);
  return hunksOfSpans(spans, splitLines(text), splitLines(after));
}

/** Undefined when the change has no place in the text. `put` are the lines that it puts in. */
function takenOver(siblings: Siblings, change: Span, put: Lines): Siblings | undefined {
  const { lines, other, spans } = siblings;
  const changed = other.toSpliced(change.oldStart, change.oldEnd - change.oldStart, ...put);
  const broughtBack = spans.find((span) => putsBack(siblings, span, put, changed));
  if (broughtBack !== undefined) {
    const rest = spans.filter((span) => span !== broughtBack);
    const moved = rest.map((span) => (span.newStart >= broughtBack.newEnd ? moveBy(span, 0, put.length) : span));
    return { lines, other: changed, spans: moved };
  }
  const at = placeOf(spans, change);
  if (at === undefined) return undefined;
  const count = change.oldEnd - change.oldStart;
  return {
    lines: lines.toSpliced(at, count, ...put),
    other: changed,
    spans: spans.flatMap((span) => besideChange(span, change, put.length - count)),
  };
}

/**
 * Whether a change brings back what a span has removed, wherever equal lines around it let the comparison place it. A
 * mere empty line may as well be the beginning of a new one.
 */
function putsBack({ lines, other }: Siblings, span: Span, put: Lines, changed: Lines): boolean {
  if (put.join("").trim() === "") return false;
  const isRemoval = span.newStart === span.newEnd && span.oldEnd - span.oldStart === put.length;
  if (!isRemoval || changed.length !== other.length + put.length) return false;
  const back = other.toSpliced(span.newStart, 0, ...lines.slice(span.oldStart, span.oldEnd));
  return back.join("") === changed.join("");
}

/** Where a change of one text stands in its sibling; undefined when it touches lines that only one of them has. */
function placeOf(spans: readonly Span[], { oldStart: start, oldEnd: end }: Span): number | undefined {
  let shift = 0;
  for (const span of spans) {
    if (start === end && start >= span.newStart && start < span.newEnd) {
      return start === span.newStart ? span.oldStart : span.oldEnd;
    }
    if (end <= span.newStart) break;
    if (start < span.newEnd) return undefined;
    shift += span.oldEnd - span.oldStart - (span.newEnd - span.newStart);
  }
  return start + shift;
}

/** A span when both texts have taken a change: behind it, before it, or in two around it. */
function besideChange(span: Span, change: Span, grown: number): readonly Span[] {
  const { oldStart: start } = change;
  if (span.newStart >= change.oldEnd) return [moveBy(span, grown, grown)];
  if (span.newEnd <= start) return [span];
  const behind = { ...span, oldStart: span.oldEnd, newStart: start };
  return [{ ...span, newEnd: start }, moveBy(behind, grown, grown)];
}

function moveBy(span: Span, old: number, fresh: number): Span {
  return {
    oldStart: span.oldStart + old,
    oldEnd: span.oldEnd + old,
    newStart: span.newStart + fresh,
    newEnd: span.newEnd + fresh,
  };
}

/** The changes that were left out, from the text that has all the others. */
function shiftedBy(changes: readonly Span[], left: ReadonlySet<Span>): readonly Span[] {
  let shift = 0;
  const shifted: Span[] = [];
  for (const change of changes) {
    const { oldStart, oldEnd, newStart, newEnd } = change;
    if (left.has(change)) shifted.push({ ...change, oldStart: oldStart + shift, oldEnd: oldEnd + shift });
    else shift += newEnd - newStart - (oldEnd - oldStart);
  }
  return shifted;
}

/** Whether the text ends without a line end: as the change wants it, unless an edit of the agent's is about just that. */
function carriedEnd(text: string, before: string, after: string): boolean {
  const [mine, was, is] = [isOpen(text), isOpen(before), isOpen(after)];
  if (mine === undefined || (was !== is && mine === was)) return is ?? false;
  return mine;
}
