/** What a matching strategy is: one way to find lines of a file that a model wrote down not quite as they stand. */
import type { Line } from "../lines.ts";

/** Lines `first` up to `first + count - 1` of the file. */
export type Window = { readonly first: number; readonly count: number };

/** What is to be replaced by what, line by line. */
export type LineEdit = { readonly oldLines: readonly string[]; readonly newLines: readonly string[] };

export type Strategy = {
  /** Ends the sentence "old_string was found …". */
  readonly how: string;
  /** True when it looks for likeness: then one place only is ever replaced. */
  readonly isSimilarity: boolean;
  /** The edit as this strategy understands it; undefined when there is nothing for it. Default: as it is. */
  prepare?(edit: LineEdit): LineEdit | undefined;
  /** Every place; `wanted` has at least one line. */
  find(file: readonly Line[], wanted: readonly string[]): readonly Window[];
};

/** Places where each line of the file equals its wanted one, both after `normalize`. */
export function equalWindows(
  file: readonly Line[],
  wanted: readonly string[],
  normalize: (line: string) => string,
): readonly Window[] {
  const sought = wanted.map(normalize);
  // Windows of blank lines alone stand everywhere.
  if (sought.every((line) => line.trim() === "")) return [];
  const given = file.map(({ text }) => normalize(text));
  const found: Window[] = [];
  for (let first = 0; first + sought.length <= given.length; first += 1) {
    if (!sought.every((line, index) => line === given[first + index])) continue;
    found.push({ first, count: sought.length });
    first += sought.length - 1;
  }
  return found;
}
