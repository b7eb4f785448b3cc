/** What a matching strategy is: one way to find lines of a file that a model wrote down not quite as they stand. */
import type { TextLines } from "../lines.ts";

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
  /** Every place, also where they overlap; `wanted` has at least one line. */
  find(file: TextLines, wanted: readonly string[]): readonly Window[];
};

/** What blanks divide; shorter pieces stand in too many lines to tell them apart. */
const WORD = /\S{3,}/g;

/**
 * Places where each line of the file equals its wanted one, both after `normalize`. `keepsWords`: it changes blanks
 * alone, so that lines without the longest wanted word need no closer look.
 */
export function equalWindows(
  file: TextLines,
  wanted: readonly string[],
  normalize: (line: string) => string,
  keepsWords = true,
): readonly Window[] {
  const sought = wanted.map(normalize);
  // Windows of blank lines alone stand everywhere.
  if (sought.every((line) => line.trim() === "")) return [];
  const { index: tellingIndex, word } = keepsWords ? tellingWord(wanted) : { index: 0, word: "" };
  const found: Window[] = [];
  for (const line of word === "" ? Array(file.length).keys() : file.holding(word)) {
    const first = line - tellingIndex;
    if (first < 0 || first + sought.length > file.length) continue;
    if (!sought.every((wanted, index) => wanted === normalize(file.at(first + index)))) continue;
    found.push({ first, count: sought.length });
  }
  return found;
}

/** The longest word of the wanted lines, and which of them has it. */
function tellingWord(wanted: readonly string[]): { readonly index: number; readonly word: string } {
  let telling = { index: 0, word: "" };
  for (const [index, line] of wanted.entries()) {
    for (const [word] of line.matchAll(WORD)) {
      if (word.length > telling.word.length) telling = { index, word };
    }
  }
  return telling;
}
