/** Words that differ between the old and the new lines of a hunk. Pure. */
import { diffArrays } from "diff";
import { indentOf } from "../documents/place-code.ts";

/** Characters from `start` up to `end` (from 0) of one of the hunk's old or new lines. */
export type Span = { readonly line: number; readonly start: number; readonly end: number };

/** Words of an old line that are gone, and their place in the line that replaced it. */
export type Removal = { readonly old: Span; readonly line: number; readonly at: number };

export type WordDiff = {
  /** Words of changed lines; lines that have too little in common with others have none. */
  readonly inserted: readonly Span[];
  readonly removed: readonly Removal[];
  /** Old line of each new line; undefined for a new line without one. */
  readonly oldLineOf: readonly (number | undefined)[];
};

/**
 * Words, numbers and operators as one token each. Scripts without blanks between words, blanks and brackets count by character.
 */
const TOKEN =
  /\r?\n|\p{RGI_Emoji}|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]\p{M}*|\p{N}+(?:\.\p{N}+)+|[\p{L}\p{M}\p{N}_$]+|[=<>!\&\|+\-*\/%^~?:.]+|[\s\S]/gv;

/** Larger hunks are compared by lines only. Characters. */
const MAX_CHARS = 20_000;

/** Edits after which the comparison of a hunk stops: what is left in common would not help to read it. */
const MAX_EDITS = 400;

/** Weight of a word: a long name alone does not make two lines alike, nor two of them different. Characters. */
const MAX_WEIGHT = 2;

/** Shares of the text in common that make two lines one changed line: of the longer line, or of an old one that grew. */
const COMMON_OF_LONGER = 0.45;
const COMMON_OF_GROWN = 0.6;
const MAX_GROWTH = 4;

const NO_WORDS: WordDiff = { inserted: [], removed: [], oldLineOf: [] };

/** Marks nothing in lines that are too long, or too different, to compare. */
export function wordDiff(oldLines: readonly string[], newLines: readonly string[]): WordDiff {
  if (!isComparable(oldLines, newLines)) return NO_WORDS;
  const [old, fresh] = [tokensOf(oldLines), tokensOf(newLines)];
  const runs = runsBetween(old, fresh);
  if (runs === undefined) return NO_WORDS;
  const oldLineOf = pairedLines(runs, newLines.length);
  const isWord = (lines: readonly string[], { line, start }: Token): boolean => start >= indentOf(lines[line]).length;
  const { inserted, removed } = indentChanges(oldLines, newLines, oldLineOf);
  for (const { isCommon, old: gone, fresh: came, before } of withoutLoneBlanks(runs)) {
    if (isCommon) continue;
    const words = spansOf(came.filter((token) => oldLineOf[token.line] !== undefined && isWord(newLines, token)));
    inserted.push(...words);
    for (const old of spansOf(gone.filter((token) => isWord(oldLines, token)))) {
      const line = oldLineOf.indexOf(old.line);
      const gap = before?.line === line ? before.start + before.text.length : 0;
      const at = words.find((word) => word.line === line)?.start ?? Math.max(gap, indentOf(newLines[line]).length);
      if (line >= 0) removed.push({ old, line, at });
    }
  }
  return { inserted, removed, oldLineOf };
}

/** Indentation is compared line by line: the comparison of words takes that of a neighbour for it, and reports the rest. */
function indentChanges(oldLines: readonly string[], newLines: readonly string[], oldLineOf: WordDiff["oldLineOf"]) {
  const inserted: Span[] = [];
  const removed: Removal[] = [];
  for (const [line, paired] of oldLineOf.entries()) {
    if (paired === undefined) continue;
    const [old, fresh] = [indentOf(oldLines[paired]), indentOf(newLines[line])];
    const differs = [...fresh].findIndex((blank, index) => blank !== old[index]);
    const start = differs < 0 ? fresh.length : differs;
    if (fresh.length > start) inserted.push({ line, start, end: fresh.length });
    if (old.length > start) removed.push({ old: { line: paired, start, end: old.length }, line, at: start });
  }
  return { inserted, removed };
}

type Token = { readonly text: string; readonly line: number; readonly start: number };

function isComparable(oldLines: readonly string[], newLines: readonly string[]): boolean {
  const size = [...oldLines, ...newLines].reduce((sum, { length }) => sum + length, 0);
  return oldLines.length > 0 && newLines.length > 0 && size <= MAX_CHARS;
}

function tokensOf(lines: readonly string[]): readonly Token[] {
  return lines.flatMap((text, line) =>
    [...text.matchAll(TOKEN)].map((match) => ({ text: match[0], line, start: match.index })),
  );
}

/** Tokens in a row that are in both texts, or are not; `before` is the token of the new text in front of them. */
type Run = {
  readonly isCommon: boolean;
  readonly old: readonly Token[];
  readonly fresh: readonly Token[];
  readonly before: Token | undefined;
};

function runsBetween(old: readonly Token[], fresh: readonly Token[]): readonly Run[] | undefined {
  const textOf = ({ text }: Token): string => text;
  const parts = diffArrays(old.map(textOf), fresh.map(textOf), { maxEditLength: MAX_EDITS });
  if (parts === undefined) return undefined;
  let [oldAt, newAt] = [0, 0];
  const runs: Run[] = [];
  for (const { added, removed, count } of parts) {
    const [oldEnd, newEnd] = [added ? oldAt : oldAt + count, removed ? newAt : newAt + count];
    const [gone, came] = [old.slice(oldAt, oldEnd), fresh.slice(newAt, newEnd)];
    push(runs, { isCommon: !added && !removed, old: gone, fresh: came, before: fresh[newAt - 1] });
    [oldAt, newAt] = [oldEnd, newEnd];
  }
  return runs;
}

/** Adds a run, or extends the last one of its kind. */
function push(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last === undefined || last.isCommon !== run.isCommon) runs.push(run);
  else runs[runs.length - 1] = { ...last, old: [...last.old, ...run.old], fresh: [...last.fresh, ...run.fresh] };
}

/** Blanks between two changed words of a line count as changed: three words in a row are one change. */
function withoutLoneBlanks(runs: readonly Run[]): readonly Run[] {
  const merged: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const isInside = index > 0 && index < runs.length - 1;
    const isBlank = run.fresh.every(({ text }) => text.trim() === "" && !text.endsWith("\n"));
    const isBetweenWords = [runs[index - 1], runs[index + 1]].every((next) => next !== undefined && hasWord(next));
    push(merged, isInside && isBlank && isBetweenWords ? { ...run, isCommon: false } : run);
  }
  return merged;
}

function hasWord({ old, fresh }: Run): boolean {
  return [...old, ...fresh].some(({ text }) => text.trim() !== "");
}

/** Lines that have enough in common, each with one other; the most similar ones first. */
function pairedLines(runs: readonly Run[], newCount: number): readonly (number | undefined)[] {
  const oldWeights = weightsOf(runs.flatMap(({ old }) => old));
  const newWeights = weightsOf(runs.flatMap(({ fresh }) => fresh));
  const common = new Map<string, { old: number; fresh: number; weight: number }>();
  for (const run of runs.filter(({ isCommon }) => isCommon)) {
    for (const [index, { line: old, text }] of run.old.entries()) {
      const fresh = run.fresh[index]?.line ?? 0;
      const pair = common.get(`${old} ${fresh}`) ?? { old, fresh, weight: 0 };
      common.set(`${old} ${fresh}`, { ...pair, weight: pair.weight + weightOf(text) });
    }
  }
  const oldLineOf: (number | undefined)[] = Array.from({ length: newCount }, () => undefined);
  for (const { old, fresh, weight } of [...common.values()].toSorted((one, other) => other.weight - one.weight)) {
    if (oldLineOf[fresh] !== undefined || oldLineOf.includes(old)) continue;
    if (isSimilar(weight, oldWeights.get(old) ?? 0, newWeights.get(fresh) ?? 0)) oldLineOf[fresh] = old;
  }
  return oldLineOf;
}

function weightOf(text: string): number {
  return Math.min(MAX_WEIGHT, text.trim().length);
}

/** Weight of each line. */
function weightsOf(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const weights = new Map<number, number>();
  for (const { line, text } of tokens) weights.set(line, (weights.get(line) ?? 0) + weightOf(text));
  return weights;
}

function isSimilar(common: number, oldSize: number, newSize: number): boolean {
  if (common >= COMMON_OF_LONGER * Math.max(oldSize, newSize)) return true; // also lines of blanks alone
  // Words that are struck, unlike new ones, stand in the way of the line that is left.
  return oldSize <= newSize && common >= COMMON_OF_GROWN * oldSize && newSize <= MAX_GROWTH * oldSize;
}

/** Spans of tokens in a row, without line ends. */
function spansOf(tokens: readonly Token[]): readonly Span[] {
  const spans: Span[] = [];
  for (const { text, line, start } of tokens) {
    if (text.endsWith("\n")) continue;
    const last = spans.at(-1);
    const end = start + text.length;
    if (last?.line === line && last.end === start) spans[spans.length - 1] = { ...last, end };
    else spans.push({ line, start, end });
  }
  return spans;
}
