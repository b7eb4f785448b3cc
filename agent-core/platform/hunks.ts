/** Hunks: neighbouring lines in which two texts differ. */
import { diffArrays } from "diff";

export type Hunk = {
  /** 0-based first line and number of lines in the baseline. */
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  /** 0-based first line and lines in the present text. */
  readonly newStart: number;
  readonly newLines: readonly string[];
};

/** This many changed lines take half a second, and more can take minutes. A limit in time would depend on the load. */
export const MAX_CHANGED_LINES = 2_000;
const FEW_CHANGED_LINES = 100;

/** Lines with their line ends; joined, they are the text again. */
export function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    lines.push(text.slice(start, end + 1));
    start = end + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** Characters that are compared at once, which takes a tenth of the time of one after the other. */
const BLOCK = 4_096;

/** Numbers of equal characters at the starts and at the ends of two texts, which do not overlap. */
export function commonEnds(one: string, other: string): { readonly start: number; readonly end: number } {
  const shorter = Math.min(one.length, other.length);
  const [last, otherLast] = [one.length - 1, other.length - 1];
  const endBlock = (text: string): string => text.slice(text.length - end - BLOCK, text.length - end);
  let [start, end] = [0, 0];
  while (start + BLOCK <= shorter && one.slice(start, start + BLOCK) === other.slice(start, start + BLOCK))
    start += BLOCK;
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start += 1;
  while (end + BLOCK <= shorter - start && endBlock(one) === endBlock(other)) end += BLOCK;
  while (end < shorter - start && one.charCodeAt(last - end) === other.charCodeAt(otherLast - end)) end += 1;
  return { start, end };
}

/** Numbers of equal characters in whole lines, at the starts and at the ends of two texts. */
export function commonLines(one: string, other: string): { readonly start: number; readonly end: number } {
  const { start, end } = commonEnds(one, other);
  const lineEnd = one.indexOf("\n", one.length - end);
  return {
    start: start === 0 ? 0 : one.lastIndexOf("\n", start - 1) + 1,
    end: lineEnd < 0 ? 0 : one.length - lineEnd - 1,
  };
}

/** Compares the lines between the common ends: splitting a large file takes longer than the rest of an edit. */
export function hunksBetween(baseline: string, present: string): readonly Hunk[] {
  const { start, end } = commonLines(baseline, present);
  const inner = (text: string): readonly string[] => splitLines(text.slice(start, text.length - end));
  const head = countBreaks(baseline, start);
  return hunksOfLines(inner(baseline), inner(present)).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + head,
    newStart: hunk.newStart + head,
  }));
}

/** Number of line breaks before an offset. */
export function countBreaks(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The same of lines. Those with more than MAX_CHANGED_LINES are one hunk. */
export function hunksOfLines(baseline: readonly string[], present: readonly string[]): readonly Hunk[] {
  const compare = (maxEditLength: number) => diffArrays([...baseline], [...present], { maxEditLength });
  // An edit changes a few lines; only other comparisons pay for a look at all lines.
  const wider = () => (leastChanges(baseline, present) > MAX_CHANGED_LINES ? undefined : compare(MAX_CHANGED_LINES));
  const changes = compare(FEW_CHANGED_LINES) ??
    wider() ?? [
      { added: false, removed: true, count: baseline.length },
      { added: true, removed: false, count: present.length },
    ];
  const hunks: Hunk[] = [];
  let [oldStart, oldEnd, newStart, newEnd] = [0, 0, 0, 0];
  const close = (): void => {
    const [oldLines, newLines] = [baseline.slice(oldStart, oldEnd), present.slice(newStart, newEnd)];
    if (oldLines.length + newLines.length > 0) hunks.push({ oldStart, oldLines, newStart, newLines });
  };
  for (const { added, removed, count } of changes) {
    const isSame = !added && !removed;
    if (isSame) close();
    if (!added) oldEnd += count;
    if (!removed) newEnd += count;
    if (isSame) [oldStart, newStart] = [oldEnd, newEnd];
  }
  close();
  return hunks;
}

/** Lines that only one side has, each as often as it has it more: any comparison finds at least as many changes. */
function leastChanges(baseline: readonly string[], present: readonly string[]): number {
  const surplus = new Map<string, number>();
  for (const line of baseline) surplus.set(line, (surplus.get(line) ?? 0) + 1);
  for (const line of present) surplus.set(line, (surplus.get(line) ?? 0) - 1);
  return [...surplus.values()].reduce((sum, count) => sum + Math.abs(count), 0);
}
