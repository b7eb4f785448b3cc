/** Where the lines of two texts differ, as line numbers alone, and what two such steps in a row come to. Pure. */
import { type Hunk, hunksBetween } from "./hunks.ts";

/** Lines from start (0-based) up to end of the old text have become those of the new one. */
export type Span = {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
};

export type Lines = readonly string[];

export function spanOf({ oldStart, oldLines, newStart, newLines }: Hunk): Span {
  return { oldStart, oldEnd: oldStart + oldLines.length, newStart, newEnd: newStart + newLines.length };
}

export function spansBetween(old: Lines, fresh: Lines): readonly Span[] {
  return hunksBetween(old.join(""), fresh.join("")).map(spanOf);
}

/** The differences within a span. */
export function refined(span: Span, old: Lines, fresh: Lines): readonly Span[] {
  const { oldStart, oldEnd, newStart, newEnd } = span;
  return spansBetween(old.slice(oldStart, oldEnd), fresh.slice(newStart, newEnd)).map((inner) => ({
    oldStart: oldStart + inner.oldStart,
    oldEnd: oldStart + inner.oldEnd,
    newStart: newStart + inner.newStart,
    newEnd: newStart + inner.newEnd,
  }));
}

/** Spans that touch are one. */
export function joined(spans: readonly Span[]): readonly Span[] {
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

/** Lines of the middle text that one of the two steps, or both of them, touch. */
type Group = { start: number; end: number; readonly first: Span[]; readonly second: Span[] };

/**
 * The differences between the first and the last of three texts: `first` leads to the middle one, `second` on from there.
 * Lines that neither touches stay what they are to each other, whatever lines equal to them a new comparison would find.
 */
export function composed(first: readonly Span[], second: readonly Span[], old: Lines, fresh: Lines): readonly Span[] {
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
