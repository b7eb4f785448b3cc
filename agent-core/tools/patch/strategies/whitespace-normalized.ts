import { indentOf } from "../lines.ts";
import { equalWindows, type Strategy } from "./strategy.ts";

/** Runs of blanks within a line; its indentation counts. */
export const whitespaceNormalized: Strategy = {
  how: "apart from blanks within lines",
  isSimilarity: false,
  find: (file, wanted) => equalWindows(file, wanted, (line) => indentOf(line) + line.trim().replace(/[ \t]+/g, " ")),
};
