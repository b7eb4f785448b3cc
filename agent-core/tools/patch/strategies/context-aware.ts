import type { TextLines } from "../lines.ts";
import { lineSimilarity } from "../similarity.ts";
import type { Strategy, Window } from "./strategy.ts";

/** Every line must be at least so similar, and half of them the same; original-agent-facts.md §6.1. */
const LEAST_LINE_SIMILARITY = 0.5;
const LEAST_EQUAL_SHARE = 0.5;
/** One line that is merely similar may be any line. */
const LEAST_LINES = 2;
/** Where the wanted lines stand more often than this, likeness tells nothing apart. */
const MAX_CANDIDATES = 5_000;

/** Half of the lines are the same and no other is a different one. */
export const contextAware: Strategy = {
  how: "by its likeness",
  isSimilarity: true,
  find(file, wanted) {
    if (wanted.length < LEAST_LINES) return [];
    const sought = wanted.map((line) => line.trim());
    const found: Window[] = [];
    for (const first of candidates(file, sought)) {
      if (isLike(file, first, sought)) found.push({ first, count: sought.length });
    }
    return found;
  },
};

/**
 * Starts of windows that can have half of their lines the same, in order: one of these lines is among any larger half,
 * so only the longest lines are looked for.
 */
function candidates(file: TextLines, sought: readonly string[]): readonly number[] {
  const longest = [...sought.entries()].sort(([, one], [, other]) => other.length - one.length);
  const starts = new Set<number>();
  for (const [index, line] of longest.slice(0, Math.floor(sought.length / 2) + 1)) {
    if (line === "") continue;
    for (const at of file.holding(line)) {
      const start = at - index;
      if (start >= 0 && start + sought.length <= file.length && file.at(at).trim() === line) starts.add(start);
      if (starts.size > MAX_CANDIDATES) return [];
    }
  }
  return [...starts].sort((one, other) => one - other);
}

function isLike(file: TextLines, first: number, sought: readonly string[]): boolean {
  const equal = sought.filter((line, index) => line !== "" && line === file.at(first + index).trim()).length;
  if (equal < sought.length * LEAST_EQUAL_SHARE) return false;
  return sought.every((line, index) => lineSimilarity(line, file.at(first + index)) >= LEAST_LINE_SIMILARITY);
}
