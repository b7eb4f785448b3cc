/** Rebases the hunks of a file over a change by somebody else: the user's lines move the baseline, too. Pure. */
import { type Hunk, hunksOfLines, splitLines } from "../../agent-core/platform/hunks.ts";

/** A text with the change of its sibling applied. */
export type Rebased = {
  readonly text: string;
  /** Differences from the text after the change. */
  readonly hunks: readonly Hunk[];
  /** False when a part of the change has no place in the text. */
  readonly isComplete: boolean;
};

/** A text, its sibling, and their differences, while the changes of the sibling are applied one by one. */
type Siblings = { readonly lines: Lines; readonly other: Lines; readonly spans: readonly Span[] };

/** A text and its sibling before the change. */
export type Pair = { readonly text: string; readonly before: string; readonly hunks: readonly Hunk[] };

/**
 * Applies the change from `before` to `after` to `text`, which differs from `before` by `hunks`. Inserted lines have a
 * place inside a hunk, too; a change of a hunk's own lines has none and becomes a part of the hunk.
 */
export function rebaseHunks({ text, before, hunks }: Pair, after: string): Rebased {
  const now = splitLines(after);
  const [lines = [], other = [], fresh = []] = closedLines([splitLines(text), splitLines(before), now]);
  let siblings: Siblings = { lines, other, spans: closedSpans(hunks, lines, other) };
  const changes = spansBetween(other, fresh);
  const left = new Set<Span>();
  for (const change of changes.toReversed()) {
    const next = applied(siblings, change, fresh.slice(change.newStart, change.newEnd));
    if (next === undefined) left.add(change);
    else siblings = next;
  }
  const rebased = textOf(siblings.lines, endAfterRebase(text, before, after));
  const spans = composed(siblings.spans, shiftedBy(changes, left), siblings.lines, fresh);
  return { text: rebased, hunks: hunksOfSpans(spans, splitLines(rebased), now), isComplete: left.size === 0 };
}

/** Hunks after the agent itself changes `before` to `after`: every line that it touches is up for review. */
export function withEdit({ text, before, hunks }: Pair, after: string): readonly Hunk[] {
  const [old, now] = [splitLines(text), splitLines(after)];
  const [lines = [], other = [], fresh = []] = closedLines([old, splitLines(before), now]);
  const spans = composed(closedSpans(hunks, lines, other), spansBetween(other, fresh), lines, fresh);
  return hunksOfSpans(spans, old, now);
}

/** Undefined when the change has no place in the text. `put` are the lines that it inserts. */
function applied(siblings: Siblings, change: Span, put: Lines): Siblings | undefined {
  const { lines, other, spans } = siblings;
  const changed = other.toSpliced(change.oldStart, change.oldEnd - change.oldStart, ...put);
  const restored = spans.find((span) => restores(siblings, span, change, put));
  if (restored !== undefined) {
    const rest = spans.filter((span) => span !== restored);
    const moved = rest.map((span) => (span.newStart >= restored.newEnd ? moveBy(span, 0, put.length) : span));
    return { lines, other: changed, spans: moved };
  }
  const at = placeOf(spans, change);
  if (at === undefined) return undefined;
  const count = change.oldEnd - change.oldStart;
  return {
    lines: lines.toSpliced(at, count, ...put),
    other: changed,
    spans: spans.flatMap((span) => aroundChange(span, change, put.length - count)),
  };
}

/**
 * True when a change restores the lines that a span has removed, whichever of several equal lines the comparison chose.
 * An empty line alone does not count: it may begin a new one.
 */
function restores({ lines, other }: Siblings, span: Span, { oldStart, oldEnd }: Span, put: Lines): boolean {
  const isRemoval = span.newStart === span.newEnd && span.oldEnd - span.oldStart === put.length;
  if (!isRemoval || oldStart !== oldEnd || put.join("").trim() === "") return false;
  const [first, last] = [Math.min(span.newStart, oldStart), Math.max(span.newStart, oldStart)];
  const between = other.slice(first, last);
  const back = between.toSpliced(span.newStart - first, 0, ...lines.slice(span.oldStart, span.oldEnd));
  return between.toSpliced(oldStart - first, 0, ...put).every((line, index) => line === back[index]);
}

/** Line of a change in the sibling text; undefined when the change touches lines that only one of the texts has. */
function placeOf(spans: readonly Span[], { oldStart: start, oldEnd: end }: Span): number | undefined {
  let shift = 0;
  for (const span of spans) {
    if (start === end && start >= span.newStart && start < span.newEnd) {
      return start === span.newStart ? span.oldStart : span.oldEnd;
    }
    if (end <= span.newStart) break;
    if (start < span.newEnd) return undefined;
    shift -= grownBy([span]);
  }
  return start + shift;
}

/** A span after both texts have the change: after it, before it, or split around it. */
function aroundChange(span: Span, change: Span, grown: number): readonly Span[] {
  const { oldStart: start } = change;
  if (span.newStart >= change.oldEnd) return [moveBy(span, grown, grown)];
  if (span.newEnd <= start) return [span];
  const after = { ...span, oldStart: span.oldEnd, newStart: start };
  return [{ ...span, newEnd: start }, moveBy(after, grown, grown)];
}

function moveBy(span: Span, old: number, fresh: number): Span {
  return {
    oldStart: span.oldStart + old,
    oldEnd: span.oldEnd + old,
    newStart: span.newStart + fresh,
    newEnd: span.newEnd + fresh,
  };
}

/** The changes without a place, with line numbers of the text that has all others. */
function shiftedBy(changes: readonly Span[], left: ReadonlySet<Span>): readonly Span[] {
  let shift = 0;
  const shifted: Span[] = [];
  for (const change of changes) {
    if (left.has(change)) shifted.push(moveBy(change, shift, 0));
    else shift += grownBy([change]);
  }
  return shifted;
}

/** True when the rebased text ends without a line end: as after the change, unless the agent's edit changed the end. */
function endAfterRebase(text: string, before: string, after: string): boolean {
  const [mine, was, is] = [isOpen(text), isOpen(before), isOpen(after)];
  if (mine === undefined || (was !== is && mine === was)) return is ?? false;
  return mine;
}

/** True when the last line has no line end ("open"): text inserted after it would join it. Undefined for an empty text. */
function isOpen(text: string): boolean | undefined {
  return text === "" ? undefined : !text.endsWith("\n");
}

/** Lines of texts, all with a line end: an open last line gets that of the equal line in another of the texts. */
function closedLines(known: readonly Lines[]): readonly Lines[] {
  const [usual = "\n"] = /\r?\n$/.exec(known.find(([first]) => first?.endsWith("\n"))?.[0] ?? "") ?? [];
  return known.map((lines): Lines => {
    const last = lines.at(-1);
    if (last === undefined || last.endsWith("\n")) return lines;
    const same = known.flat().findLast((line) => line === `${last}\n` || line === `${last}\r\n`);
    return lines.with(-1, same ?? last + usual);
  });
}

/** Text of closed lines, without the last line end when `open`; an empty last line keeps it. */
function textOf(lines: Lines, open: boolean): string {
  const text = lines.join("");
  return open ? text.replace(/([^\n\r])\r?\n$/, "$1") : text;
}

/** Spans of hunks between closed lines; a last hunk that changed only a line end has none. */
function closedSpans(hunks: readonly Hunk[], old: Lines, fresh: Lines): readonly Span[] {
  const spans = hunks.map(spanOf);
  const last = spans.at(-1);
  return last === undefined ? [] : joined([...spans.slice(0, -1), ...refined(last, old, fresh)]);
}

/** Hunks between two texts from the spans of their closed lines. */
function hunksOfSpans(spans: readonly Span[], old: Lines, fresh: Lines): readonly Hunk[] {
  return joined(withLastLines(spans, old, fresh)).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    oldStart,
    oldLines: old.slice(oldStart, oldEnd),
    newStart,
    newLines: fresh.slice(newStart, newEnd),
  }));
}

/** Adds a span for last lines that differ in their line end alone. */
function withLastLines(spans: readonly Span[], old: Lines, fresh: Lines): readonly Span[] {
  const last = spans.at(-1) ?? { oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 0 };
  if (old.length > last.oldEnd) {
    const [oldStart, newStart] = [old.length - 1, fresh.length - 1];
    if (old[oldStart] === fresh[newStart]) return spans;
    return [...spans, { oldStart, oldEnd: old.length, newStart, newEnd: fresh.length }];
  }
  const [oldStart, newStart] = [last.oldStart - 1, last.newStart - 1];
  if (old[oldStart] === fresh[newStart]) return spans;
  return [...spans.slice(0, -1), { ...last, oldStart, newStart }];
}

/** Lines from start (0-based) up to end of the old text that became those of the new one. */
type Span = {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
};

type Lines = readonly string[];

function spanOf({ oldStart, oldLines, newStart, newLines }: Hunk): Span {
  return { oldStart, oldEnd: oldStart + oldLines.length, newStart, newEnd: newStart + newLines.length };
}

function spansBetween(old: Lines, fresh: Lines): readonly Span[] {
  return hunksOfLines(old, fresh).map(spanOf);
}

/** Differences within a span. */
function refined(span: Span, old: Lines, fresh: Lines): readonly Span[] {
  const { oldStart, oldEnd, newStart, newEnd } = span;
  const inner = spansBetween(old.slice(oldStart, oldEnd), fresh.slice(newStart, newEnd));
  return inner.map((one) => moveBy(one, oldStart, newStart));
}

function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.oldEnd === span.oldStart && last.newEnd === span.newStart) {
      all[all.length - 1] = { ...last, oldEnd: span.oldEnd, newEnd: span.newEnd };
    } else {
      all.push(span);
    }
  }
  return all;
}

/** Lines of the middle text that one or both steps touch. */
type Group = { start: number; end: number; readonly first: Span[]; readonly second: Span[] };

/**
 * Differences between the first and the last of three texts: `first` leads to the middle one, `second` to the last. Lines
 * that neither step touches stay paired; a new comparison could pair them with other equal lines.
 */
function composed(first: readonly Span[], second: readonly Span[], old: Lines, fresh: Lines): readonly Span[] {
  let [oldShift, newShift] = [0, 0];
  const spans = groupsOf(first, second).flatMap((group): readonly Span[] => {
    const [oldGrown, newGrown] = [-grownBy(group.first), grownBy(group.second)];
    const span = {
      oldStart: group.start + oldShift,
      oldEnd: group.end + oldShift + oldGrown,
      newStart: group.start + newShift,
      newEnd: group.end + newShift + newGrown,
    };
    oldShift += oldGrown;
    newShift += newGrown;
    return group.first.length > 0 && group.second.length > 0 ? refined(span, old, fresh) : [span];
  });
  return joined(spans);
}

function grownBy(spans: readonly Span[]): number {
  return spans.reduce(
    (sum, { oldStart, oldEnd, newStart, newEnd }) => sum + newEnd - newStart - (oldEnd - oldStart),
    0,
  );
}

function groupsOf(first: readonly Span[], second: readonly Span[]): readonly Group[] {
  const parts = [
    ...first.map((span) => ({ start: span.newStart, end: span.newEnd, first: [span], second: [] })),
    ...second.map((span) => ({ start: span.oldStart, end: span.oldEnd, first: [], second: [span] })),
  ].toSorted((one, other) => one.start - other.start || one.end - other.end);
  const groups: Group[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last === undefined || part.start > last.end) {
      groups.push(part);
      continue;
    }
    last.end = Math.max(last.end, part.end);
    last.first.push(...part.first);
    last.second.push(...part.second);
  }
  return groups;
}
