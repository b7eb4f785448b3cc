import type { TextLines } from "../lines.ts";
import { lineSimilarity } from "../similarity.ts";
import type { Strategy, Window } from "./strategy.ts";

/** Fewer lines have no middle that could differ. */
const LEAST_LINES = 3;
/** Of the lines between the anchors. */
const LEAST_SIMILARITY = 0.7;

/** The first and the last line stand there, and those between are much the same. */
export const blockAnchor: Strategy = {
  how: "by its first and last line",
  isSimilarity: true,
  find(file, wanted) {
    if (wanted.length < LEAST_LINES) return [];
    const [first = "", last = ""] = [wanted[0]?.trim(), wanted.at(-1)?.trim()];
    if (first === "" || last === "") return [];
    const found: Window[] = [];
    for (const at of file.holding(first)) {
      if (at + wanted.length > file.length) break;
      const isAnchored = file.at(at).trim() === first && file.at(at + wanted.length - 1).trim() === last;
      if (isAnchored && middleSimilarity(file, at, wanted) >= LEAST_SIMILARITY) {
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
