import { lineSimilarity } from "../similarity.ts";
import type { Strategy, Window } from "./strategy.ts";

/** Every line must be at least so similar, and half of them the same; original-agent-facts.md §6.1. */
const LEAST_LINE_SIMILARITY = 0.5;
const LEAST_EQUAL_SHARE = 0.5;
/** One line that is merely similar may be any line. */
const LEAST_LINES = 2;
/** Comparing costs lines times lines: beyond this the text must be given as it stands. */
const MAX_COMPARISONS = 4_000_000;

/** Half of the lines are the same and no other is a different one. */
export const contextAware: Strategy = {
  how: "by its likeness",
  isSimilarity: true,
  find(file, wanted) {
    if (wanted.length < LEAST_LINES || file.length * wanted.length > MAX_COMPARISONS) return [];
    const sought = wanted.map((line) => line.trim());
    const given = file.map(({ text }) => text.trim());
    const found: Window[] = [];
    for (const first of candidates(given, sought)) {
      if (isLike(given, first, sought)) found.push({ first, count: sought.length });
    }
    return found;
  },
};

/** Starts of windows with at least one line that is the same, in order. */
function candidates(given: readonly string[], sought: readonly string[]): readonly number[] {
  const places = Map.groupBy(sought.keys(), (index) => sought[index] ?? "");
  places.delete("");
  const starts = new Set<number>();
  for (const [at, line] of given.entries()) for (const index of places.get(line) ?? []) starts.add(at - index);
  const last = given.length - sought.length;
  return [...starts].filter((start) => start >= 0 && start <= last).sort((one, other) => one - other);
}

function isLike(given: readonly string[], first: number, sought: readonly string[]): boolean {
  const equal = sought.filter((line, index) => line !== "" && line === given[first + index]).length;
  if (equal < sought.length * LEAST_EQUAL_SHARE) return false;
  return sought.every((line, index) => lineSimilarity(line, given[first + index] ?? "") >= LEAST_LINE_SIMILARITY);
}
