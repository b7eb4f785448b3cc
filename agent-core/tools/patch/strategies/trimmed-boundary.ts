import { equalWindows, type Strategy } from "./strategy.ts";

/** Blank lines before and after what is meant. */
export const trimmedBoundary: Strategy = {
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
