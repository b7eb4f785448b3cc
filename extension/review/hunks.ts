/** Hunks between a baseline and the present text, and the effect of keeping or undoing one. Pure. */
import { diffArrays } from "diff";

export type Hunk = {
  /** 0-based first line and number of lines in the baseline. */
  readonly oldStart: number;
  readonly oldLines: readonly string[];
  /** 0-based first line and lines in the present text. */
  readonly newStart: number;
  readonly newLines: readonly string[];
};

/** Lines with their line ends; joined, they are the text again. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Numbers of equal characters at the starts and at the ends of two texts, which do not overlap. */
export function commonEnds(one: string, other: string): { readonly start: number; readonly end: number } {
  const shorter = Math.min(one.length, other.length);
  const [last, otherLast] = [one.length - 1, other.length - 1];
  let [start, end] = [0, 0];
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start += 1;
  while (end < shorter - start && one.charCodeAt(last - end) === other.charCodeAt(otherLast - end)) end += 1;
  return { start, end };
}

/** Compares the lines after the common start: splitting a large file takes longer than the rest of an edit. */
export function hunksBetween(baseline: string, present: string): readonly Hunk[] {
  const { start } = commonEnds(baseline, present);
  const from = start === 0 ? 0 : baseline.lastIndexOf("\n", start - 1) + 1;
  let line = 0;
  for (let at = baseline.indexOf("\n"); at >= 0 && at < from; at = baseline.indexOf("\n", at + 1)) line += 1;
  return hunksOfLines(splitLines(baseline.slice(from)), splitLines(present.slice(from)), line);
}

/** The same of lines with their line ends. `line`: number of the first one on both sides. */
export function hunksOfLines(
  baseline: readonly string[],
  present: readonly string[],
  line: number = 0,
): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine] = [line, line];
  let open: { oldLines: string[]; newLines: string[]; oldStart: number; newStart: number } | undefined;
  for (const { value: lines, ...change } of diffArrays([...baseline], [...present])) {
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

/** The nearest hunk with the same lines; decisions about others may have moved it. */
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

/** Baseline after one hunk is kept. */
export function keepHunk(baseline: string, hunk: Hunk): string {
  return replaceLines(baseline, hunk.oldStart, hunk.oldLines.length, hunk.newLines);
}

/** Present text after one hunk is undone. */
export function undoHunk(present: string, hunk: Hunk): string {
  return replaceLines(present, hunk.newStart, hunk.newLines.length, hunk.oldLines);
}

/** The other hunks after one is kept, which changes the length of the baseline. */
export function hunksWithoutKept(hunks: readonly Hunk[], kept: Hunk): readonly Hunk[] {
  const grown = kept.newLines.length - kept.oldLines.length;
  return others(hunks, kept).map((hunk) => (follows(hunk, kept) ? { ...hunk, oldStart: hunk.oldStart + grown } : hunk));
}

/** The other hunks after one is undone, which changes the length of the present text. */
export function hunksWithoutUndone(hunks: readonly Hunk[], undone: Hunk): readonly Hunk[] {
  const shrunk = undone.newLines.length - undone.oldLines.length;
  return others(hunks, undone).map((hunk) =>
    follows(hunk, undone) ? { ...hunk, newStart: hunk.newStart - shrunk } : hunk,
  );
}

function others(hunks: readonly Hunk[], one: Hunk): readonly Hunk[] {
  return hunks.filter((hunk) => hunk !== one);
}

function follows(hunk: Hunk, other: Hunk): boolean {
  return hunk.newStart > other.newStart || hunk.oldStart > other.oldStart;
}

function replaceLines(text: string, start: number, count: number, lines: readonly string[]): string {
  const all = splitLines(text);
  return [...all.slice(0, start), ...lines, ...all.slice(start + count)].join("");
}
