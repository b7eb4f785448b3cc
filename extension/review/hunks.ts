/** Hunks between a baseline and the present text, and what keeping or undoing one makes of them. Pure. */
import { diffLines } from "diff";

export type Hunk = {
  /** 0-based first line and number of lines in the baseline. */
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  /** 0-based first line and lines in the present text. */
  readonly newStart: number;
  readonly newLines: readonly string[];
};

/** Lines keep their line ends, so that joining them gives the text back. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export function hunksBetween(baseline: string, present: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine] = [0, 0];
  let open: { oldLines: string[]; newLines: string[]; oldStart: number; newStart: number } | undefined;
  for (const change of diffLines(baseline, present)) {
    const lines = splitLines(change.value);
    if (!change.added && !change.removed) {
      if (open) hunks.push(open);
      open = undefined;
      oldLine += lines.length;
      newLine += lines.length;
      continue;
    }
    open ??= { oldLines: [], newLines: [], oldStart: oldLine, newStart: newLine };
    if (change.removed) {
      open.oldLines.push(...lines);
      oldLine += lines.length;
    } else {
      open.newLines.push(...lines);
      newLine += lines.length;
    }
  }
  if (open) hunks.push(open);
  return hunks;
}

/** The nearest hunk with the same lines; others may have been decided and moved it. */
export function sameHunk(
  hunks: readonly Hunk[],
  wanted: Pick<Hunk, "newStart" | "oldLines" | "newLines">,
): Hunk | undefined {
  const distance = ({ newStart }: Hunk): number => Math.abs(newStart - wanted.newStart);
  return hunks
    .filter(
      ({ oldLines, newLines }) =>
        oldLines.join("") === wanted.oldLines.join("") && newLines.join("") === wanted.newLines.join(""),
    )
    .toSorted((left, right) => distance(left) - distance(right))[0];
}

/** The baseline with one hunk taken in: it is no longer up for review. */
export function keepHunk(baseline: string, hunk: Hunk): string {
  return replaceLines(baseline, hunk.oldStart, hunk.oldLines.length, hunk.newLines);
}

/** The present text with one hunk put back. */
export function undoHunk(present: string, hunk: Hunk): string {
  return replaceLines(present, hunk.newStart, hunk.newLines.length, hunk.oldLines);
}

/** `text` with a change of somebody else's taken over; `complete` is false when a part of it had no place there. */
export type Carried = { readonly text: string; readonly complete: boolean };

/**
 * Takes the change from `before` to `after` over into `text`, a sibling of `before` that differs from it by hunks.
 * Whole lines put in find their place also inside a hunk; a change of a hunk's own lines has none and is left out.
 */
export function carryChange(text: string, before: string, after: string): Carried {
  const hunks = hunksBetween(text, before);
  let carried = text;
  let complete = true;
  for (const change of hunksBetween(before, after).toReversed()) {
    if (hunks.some((hunk) => putsBack(before, change, hunk))) continue;
    const line = lineInSibling(hunks, change);
    if (line === undefined) complete = false;
    else carried = replaceLines(carried, line, change.oldLines.length, change.newLines);
  }
  return { text: carried, complete };
}

/**
 * The baseline after the user changed the present text from `before` to `after`: lines they put in and what they
 * changed outside the agent's hunks are theirs and move the baseline too; a change of the agent's lines stays the hunk's.
 */
export function followTyping(baseline: string, before: string, after: string): string {
  return carryChange(baseline, before, after).text;
}

/** Whether a change brings back what a hunk has removed, wherever equal lines around it let the comparison place it. */
function putsBack(before: string, change: Hunk, hunk: Hunk): boolean {
  const isAddition = change.oldLines.length === 0 && hunk.newLines.length === 0;
  if (!isAddition || change.newLines.length !== hunk.oldLines.length) return false;
  return replaceLines(before, change.oldStart, 0, change.newLines) === undoHunk(before, hunk);
}

/** Where a change of one text stands in its sibling; undefined when it touches lines that only one of them has. */
function lineInSibling(hunks: readonly Hunk[], { oldStart: start, oldLines }: Hunk): number | undefined {
  const end = start + oldLines.length;
  let shift = 0;
  for (const hunk of hunks) {
    const hunkEnd = hunk.newStart + hunk.newLines.length;
    if (start === end && start >= hunk.newStart && start < hunkEnd) {
      return hunk.oldStart + (start === hunk.newStart ? 0 : hunk.oldLines.length);
    }
    if (end <= hunk.newStart) break;
    if (start < hunkEnd) return undefined;
    shift += hunk.oldLines.length - hunk.newLines.length;
  }
  return start + shift;
}

function replaceLines(text: string, start: number, count: number, lines: readonly string[]): string {
  const all = splitLines(text);
  return [...all.slice(0, start), ...lines, ...all.slice(start + count)].join("");
}
