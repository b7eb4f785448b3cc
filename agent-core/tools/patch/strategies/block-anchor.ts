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
    for (let at = 0; at + wanted.length <= file.length; at += 1) {
      if (!file[at]?.text.includes(first)) continue;
      const isAnchored = file[at]?.text.trim() === first && file[at + wanted.length - 1]?.text.trim() === last;
      if (isAnchored && middleSimilarity(file.slice(at, at + wanted.length), wanted) >= LEAST_SIMILARITY) {
        found.push({ first: at, count: wanted.length });
      }
    }
    return found;
  },
};

function middleSimilarity(given: readonly { readonly text: string }[], wanted: readonly string[]): number {
  const middle = wanted.slice(1, -1);
  const sum = middle.reduce((total, line, index) => total + lineSimilarity(line, given[index + 1]?.text ?? ""), 0);
  return sum / middle.length;
}
