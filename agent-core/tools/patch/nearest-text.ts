/** Part of a file that is most like a text which is not in it. */
import type { TextLines } from "./text-lines.ts";

/** A window is shown when at least this share of its lines' words is shared. */
const LEAST_SIMILARITY = 0.3;
/** Lines of the wanted text that are compared; the rest adds little and costs much. */
const COMPARED_LINES = 40;
/** In longer files only windows that hold the wanted lines' longest words are compared. */
const COMPARED_WHOLE_LINES = 2_000;
/** Number of those windows that are compared: the ones with most such words. */
const COMPARED_WINDOWS = 50;
/** A word on more lines than this says little about the place. */
const MAX_WORD_LINES = 300;
/** Shorter words are everywhere. */
const WORD = /\w{3,}/g;
/** Each costs a walk through the file. */
const SOUGHT_WORDS = 20;

export type NearText = {
  /** 1-based. */
  readonly line: number;
  /** `LINE|text`, as read_file shows it. */
  readonly text: string;
};

export function nearestText(file: TextLines, wanted: string): NearText | undefined {
  const wantedLines = wanted
    .replace(/^(?:[ \t]*\r?\n)+/, "")
    .trimEnd()
    .split(/\r?\n/)
    .slice(0, COMPARED_LINES);
  if (wantedLines.length > file.length) return undefined;
  const words = wantedLines.map(wordsOf);
  let best = { score: 0, at: 0 };
  for (const at of windows(file, wantedLines)) {
    let score = 0;
    for (const [index, line] of words.entries()) score += similarity(line, wordsOf(file.at(at + index)));
    if (score > best.score) best = { score, at };
  }
  if (best.score < wantedLines.length * LEAST_SIMILARITY) return undefined;
  const shown = file.slice(best.at, wantedLines.length);
  return { line: best.at + 1, text: shown.map((line, index) => `${best.at + 1 + index}|${line}`).join("\n") };
}

/** First lines of the windows to compare, in order. */
function windows(file: TextLines, wantedLines: readonly string[]): Iterable<number> {
  const last = file.length - wantedLines.length;
  if (file.length <= COMPARED_WHOLE_LINES) return Array(last + 1).keys();
  const words = wantedLines.flatMap((line, index) => [...new Set(line.match(WORD))].map((word) => ({ index, word })));
  const longest = words.sort((one, other) => other.word.length - one.word.length).slice(0, SOUGHT_WORDS);
  const found = longest.map(({ index, word }) => ({ index, lines: [...someHolding(file, word)] }));
  const rare = found.filter(({ lines }) => lines.length < MAX_WORD_LINES);
  const votes = new Map<number, number>();
  for (const { index, lines } of rare.some(({ lines }) => lines.length > 0) ? rare : found) {
    for (const line of lines) {
      const start = Math.min(Math.max(line - index, 0), last);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  }
  const favourites = [...votes].sort(([, one], [, other]) => other - one).slice(0, COMPARED_WINDOWS);
  return favourites.map(([start]) => start).sort((one, other) => one - other);
}

function* someHolding(file: TextLines, word: string): Generator<number> {
  let count = 0;
  for (const line of file.holding(word)) {
    yield line;
    count += 1;
    if (count === MAX_WORD_LINES) return;
  }
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.match(/\w+|[^\s\w]/g) ?? []);
}

/** Shared words over all words; two blank lines are alike. */
function similarity(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  if (first.size === 0 && second.size === 0) return 1;
  let shared = 0;
  for (const word of first) if (second.has(word)) shared += 1;
  return shared / (first.size + second.size - shared);
}
