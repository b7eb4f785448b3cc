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

/** Shorter words stand in too many lines to tell them apart. */
const WORD = /\w{3,}/g;

/**
 * Places where each line of the file equals its wanted one, both after `normalize`. `keepsWords`: it leaves words as they
 * are, so that lines without the longest wanted word need no closer look.
 */
export function equalWindows(
  file: readonly Line[],
  wanted: readonly string[],
  normalize: (line: string) => string,
  keepsWords = true,
): readonly Window[] {
  const sought = wanted.map(normalize);
  // Windows of blank lines alone stand everywhere.
  if (sought.every((line) => line.trim() === "")) return [];
  const { index: tellingIndex, word } = keepsWords ? tellingWord(wanted) : { index: 0, word: "" };
  const found: Window[] = [];
  for (let first = 0; first + sought.length <= file.length; first += 1) {
    if (word !== "" && !file[first + tellingIndex]?.text.includes(word)) continue;
    if (!sought.every((line, index) => line === normalize(file[first + index]?.text ?? ""))) continue;
    found.push({ first, count: sought.length });
    first += sought.length - 1;
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
