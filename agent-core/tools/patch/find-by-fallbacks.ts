/**
 * Strategies for old lines that differ from the file's. They are ordered from safe matches to likeness; the first one that
 * finds anything decides.
 */
import { hunksOfLines } from "../../platform/hunks.ts";
import { indentOf, isAscii, type TextLines } from "./text-lines.ts";
import { plain } from "./typography.ts";

/** Lines `first` up to `first + count - 1` of the file. */
export type Window = { readonly first: number; readonly count: number };

export type LineEdit = { readonly oldLines: readonly string[]; readonly newLines: readonly string[] };

type Strategy = {
  /** Ends the sentence "old_string was found …". */
  readonly how: string;
  /** True for a strategy that looks for likeness: then one place only is ever replaced. */
  readonly isSimilarity: boolean;
  /** The edit as this strategy understands it; undefined when it does not apply. Default: the edit itself. */
  prepare?(edit: LineEdit): LineEdit | undefined;
  /** Every place, also where places overlap; `wanted` has at least one line. */
  find(file: TextLines, wanted: readonly string[]): readonly Window[];
};

/** Places of an edit, found by one strategy; at least one. */
export type FoundWindows = Pick<Strategy, "how" | "isSimilarity"> & {
  readonly edit: LineEdit;
  readonly windows: readonly Window[];
};

export function findByFallbacks(file: TextLines, edit: LineEdit): FoundWindows | undefined {
  for (const { how, isSimilarity, prepare, find } of STRATEGIES) {
    const prepared = prepare === undefined ? edit : prepare(edit);
    if (prepared === undefined) continue;
    const places = find(file, prepared.oldLines);
    const windows = isSimilarity ? places.filter(({ first }) => isSafe(file, first, prepared)) : places;
    if (windows.length > 0) return { how, isSimilarity, edit: prepared, windows };
  }
  return undefined;
}

/** Equal lines with a word that a place found by likeness must have: brackets are equal everywhere. */
const LEAST_EQUAL_WORDS = 2;
const LINE_WORD = /\w{3}/;

/** A line that goes must be the file's; only one that stays may differ, since the file's own is kept. */
function isSafe(file: TextLines, first: number, { oldLines, newLines }: LineEdit): boolean {
  const isEqual = (line: string, index: number): boolean => line.trim() === file.at(first + index).trim();
  const going = hunksOfLines(oldLines, newLines);
  if (!going.every((hunk) => hunk.oldLines.every((line, index) => isEqual(line, hunk.oldStart + index)))) return false;
  return oldLines.filter((line, index) => LINE_WORD.test(line) && isEqual(line, index)).length >= LEAST_EQUAL_WORDS;
}

/** Lines that are equal after `normalize`. */
function equalAfter(how: string, normalize: (line: string) => string): Strategy {
  return { how, isSimilarity: false, find: (file, wanted) => equalWindows(file, wanted, normalize) };
}

function singleSpaced(line: string): string {
  return line.trim().replace(/[ \t]+/g, " ");
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "", '"': '"', "'": "'", "`": "`", "\\": "\\" };

/** Escapes written once too often: `\n` and `\"` for a line break and a quote. */
const escapeNormalized: Strategy = {
  how: "once its escapes were resolved",
  isSimilarity: false,
  prepare({ oldLines, newLines }) {
    const resolved = resolveEscapes(oldLines);
    if (resolved.join("\n") === oldLines.join("\n")) return undefined;
    // The model escaped the replacement, too.
    return { oldLines: resolved, newLines: resolveEscapes(newLines) };
  },
  find: (file, wanted) => equalWindows(file, wanted, (line) => line.trim()),
};

function resolveEscapes(lines: readonly string[]): readonly string[] {
  const text = lines.join("\n").replace(/\\([ntr"'`\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);
  return text.split("\n");
}

/** Blank lines before and after the text. */
const trimmedBoundary: Strategy = {
  how: "without the blank lines around it",
  isSimilarity: false,
  prepare({ oldLines, newLines }) {
    const trimmed = withoutOuterBlanks(oldLines);
    if (trimmed.length === 0 || trimmed.length === oldLines.length) return undefined;
    return { oldLines: trimmed, newLines: withoutOuterBlanks(newLines) };
  },
  find: (file, wanted) => equalWindows(file, wanted, (line) => line.trim()),
};

function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

const unicodeNormalized: Strategy = {
  how: "apart from typographic characters",
  isSimilarity: false,
  find(file, wanted) {
    const hasAny = !file.isAscii || wanted.some((line) => !isAscii(line));
    return hasAny ? equalWindows(file, wanted, (line) => plain(line).trim(), false) : [];
  },
};

/** Fewer lines have no middle that could differ. */
const ANCHORED_LINES = 3;
/** Share for the lines between the anchors. */
const MIDDLE_SIMILARITY = 0.7;

/** Equal first and last lines, and much the same between them. */
const blockAnchor: Strategy = {
  how: "by its first and last line",
  isSimilarity: true,
  find(file, wanted) {
    if (wanted.length < ANCHORED_LINES) return [];
    const [first = "", last = ""] = [wanted[0]?.trim(), wanted.at(-1)?.trim()];
    if (first === "" || last === "") return [];
    const found: Window[] = [];
    for (const at of file.holding(first)) {
      if (at + wanted.length > file.length) break;
      const isAnchored = file.at(at).trim() === first && file.at(at + wanted.length - 1).trim() === last;
      if (isAnchored && middleSimilarity(file, at, wanted) >= MIDDLE_SIMILARITY) {
        found.push({ first: at, count: wanted.length });
      }
    }
    return found;
  },
};

function middleSimilarity(file: TextLines, first: number, wanted: readonly string[]): number {
  const middle = wanted.slice(1, -1);
  const sum = middle.reduce((total, line, index) => total + lineSimilarity(line, file.at(first + index + 1)), 0);
  return sum / middle.length;
}

/** Every line must be at least so similar, and half of the lines equal; below that, places are found by chance. */
const LEAST_LINE_SIMILARITY = 0.5;
const LEAST_EQUAL_SHARE = 0.5;
/** One line that is merely similar may be any line. */
const LIKE_LINES = 2;
/** With more candidates, likeness distinguishes nothing. */
const MAX_CANDIDATES = 5_000;

/** Half of the lines are equal and no other is a different one. */
const contextAware: Strategy = {
  how: "by its likeness",
  isSimilarity: true,
  find(file, wanted) {
    if (wanted.length < LIKE_LINES) return [];
    const sought = wanted.map((line) => line.trim());
    return candidates(file, sought)
      .filter((first) => isLike(file, first, sought))
      .map((first) => ({ first, count: sought.length }));
  },
};

/**
 * Starts of windows that can have half of their lines equal, in order: one of these lines is among any larger half, so
 * the longest lines are enough to look for.
 */
function candidates(file: TextLines, sought: readonly string[]): readonly number[] {
  const indexes = new Map<string, number[]>();
  const longest = [...sought.entries()].sort(([, one], [, other]) => other.length - one.length);
  for (const [index, line] of longest.slice(0, Math.floor(sought.length / 2) + 1)) {
    if (line !== "") indexes.set(line, [...(indexes.get(line) ?? []), index]);
  }
  const starts = new Set<number>();
  for (const at of file.holdingAny([...indexes.keys()])) {
    for (const index of indexes.get(file.at(at).trim()) ?? []) {
      const start = at - index;
      if (start >= 0 && start + sought.length <= file.length) starts.add(start);
    }
    if (starts.size > MAX_CANDIDATES) return [];
  }
  return [...starts].sort((one, other) => one - other);
}

function isLike(file: TextLines, first: number, sought: readonly string[]): boolean {
  const equal = sought.filter((line, index) => line !== "" && line === file.at(first + index).trim()).length;
  if (equal < sought.length * LEAST_EQUAL_SHARE) return false;
  return sought.every((line, index) => lineSimilarity(line, file.at(first + index)) >= LEAST_LINE_SIMILARITY);
}

const STRATEGIES: readonly Strategy[] = [
  // Models drop spaces at the ends of lines, and editors leave them.
  equalAfter("apart from blanks at the ends of lines", (line) => line.trimEnd()),
  equalAfter("apart from blanks within lines", (line) => indentOf(line) + singleSpaced(line)),
  // The replacement is indented as the place is.
  equalAfter("apart from indentation", singleSpaced),
  escapeNormalized,
  trimmedBoundary,
  unicodeNormalized,
  blockAnchor,
  contextAware,
];

/** Shorter pieces between spaces are in too many lines to distinguish them. */
const WORD = /\S{3,}/g;

/**
 * Places where each line of the file equals its wanted one, both after `normalize`. `keepsWords`: the function changes
 * spaces alone, so that lines without the longest wanted word need no comparison.
 */
export function equalWindows(
  file: TextLines,
  wanted: readonly string[],
  normalize: (line: string) => string,
  keepsWords = true,
): readonly Window[] {
  const sought = wanted.map(normalize);
  // Windows of blank lines alone are everywhere.
  if (sought.every((line) => line.trim() === "")) return [];
  const { index: longestIndex, word } = keepsWords ? longestWord(wanted) : { index: 0, word: "" };
  const found: Window[] = [];
  for (const line of word === "" ? Array(file.length).keys() : file.holding(word)) {
    const first = line - longestIndex;
    if (first < 0 || first + sought.length > file.length) continue;
    if (!sought.every((wanted, index) => wanted === normalize(file.at(first + index)))) continue;
    found.push({ first, count: sought.length });
  }
  return found;
}

function longestWord(wanted: readonly string[]): { readonly index: number; readonly word: string } {
  let longest = { index: 0, word: "" };
  for (const [index, line] of wanted.entries()) {
    for (const [word] of line.matchAll(WORD)) {
      if (word.length > longest.word.length) longest = { index, word };
    }
  }
  return longest;
}

/** Longer lines are compared by their beginnings. Characters. */
const COMPARED_CHARS = 400;

/** 1: equal; 0: nothing in common. By pairs of neighbouring characters (Dice's coefficient), without outer spaces. */
function lineSimilarity(first: string, second: string): number {
  const [one, other] = [first.trim().slice(0, COMPARED_CHARS), second.trim().slice(0, COMPARED_CHARS)];
  if (one === other) return 1;
  if (one.length < 2 || other.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < one.length; at += 1) {
    const pair = one.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let at = 0; at + 1 < other.length; at += 1) {
    const pair = other.slice(at, at + 2);
    const left = pairs.get(pair) ?? 0;
    if (left === 0) continue;
    shared += 1;
    pairs.set(pair, left - 1);
  }
  return (2 * shared) / (one.length + other.length - 2);
}
