import { equalWindows, type Strategy } from "./strategy.ts";

/** How far lines are indented; the replacement is indented as the place is. */
export const indentationFlexible: Strategy = {
  how: "apart from indentation",
  isSimilarity: false,
  find: (file, wanted) => equalWindows(file, wanted, (line) => line.trim().replace(/[ \t]+/g, " ")),
};
