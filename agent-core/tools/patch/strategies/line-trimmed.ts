import { equalWindows, type Strategy } from "./strategy.ts";

/** Blanks at the ends of lines, which models drop and editors leave. */
export const lineTrimmed: Strategy = {
  how: "apart from blanks at the ends of lines",
  isSimilarity: false,
  find: (file, wanted) => equalWindows(file, wanted, (line) => line.trimEnd()),
};
