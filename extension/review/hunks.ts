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

/** The baseline with one hunk taken in: it is no longer up for review. */
export function keepHunk(baseline: string, hunk: Hunk): string {
  return replaceLines(baseline, hunk.oldStart, hunk.oldLines.length, hunk.newLines);
}

/** The present text with one hunk put back. */
export function undoHunk(present: string, hunk: Hunk): string {
  return replaceLines(present, hunk.newStart, hunk.newLines.length, hunk.oldLines);
}

/**
 * The baseline after the user changed the present text from `before` to `after`: what they typed outside the agent's
 * hunks is theirs and moves the baseline too; what they typed inside a hunk stays part of it.
 */
export function followTyping(baseline: string, before: string, after: string): string {
  const agents = hunksBetween(baseline, before);
  let moved = baseline;
  for (const typed of hunksBetween(before, after).toReversed()) {
    const place = baselineLine(agents, typed);
    if (place !== undefined) moved = replaceLines(moved, place, typed.oldLines.length, typed.newLines);
  }
  return moved;
}

/** Where a change of the present text stands in the baseline; undefined when it touches one of the agent's hunks. */
function baselineLine(agents: readonly Hunk[], { oldStart: start, oldLines }: Hunk): number | undefined {
  const end = start + oldLines.length;
  let shift = 0;
  for (const hunk of agents) {
    const hunkEnd = hunk.newStart + hunk.newLines.length;
    if (end <= hunk.newStart && !(start === end && start === hunk.newStart)) break;
    if (start >= hunkEnd && !(hunk.newLines.length === 0 && start === hunk.newStart && oldLines.length === 0)) {
      shift += hunk.oldLines.length - hunk.newLines.length;
      continue;
    }
    return undefined;
  }
  return start + shift;
}

function replaceLines(text: string, start: number, count: number, lines: readonly string[]): string {
  const all = splitLines(text);
  return [...all.slice(0, start), ...lines, ...all.slice(start + count)].join("");
}
