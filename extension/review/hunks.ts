/** Effect of keeping or undoing a hunk between a baseline and the present text. Pure. */
import { type Hunk, splitLines } from "../../agent-core/platform/hunks.ts";

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
