/**
 * The new lines for a place that was not found exactly: lines that the edit leaves alone stay as the file has them, the
 * others are indented as the place is.
 */
import { diffArrays } from "diff";
import { indentOf } from "./lines.ts";

/** `given` are the file's lines, one for each of `oldLines`. */
export function fitLines(
  given: readonly string[],
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly string[] {
  const reindent = reindenter(given, oldLines);
  const fitted: string[] = [];
  let at = 0;
  for (const { added, removed, value } of diffArrays([...oldLines], [...newLines])) {
    if (added) fitted.push(...value.map(reindent));
    else if (!removed) fitted.push(...given.slice(at, at + value.length));
    if (!added) at += value.length;
  }
  return fitted;
}

/** What indents a new line as the place is, by the first line that says something on both sides. */
export function reindenter(given: readonly string[], oldLines: readonly string[]): (line: string) => string {
  const index = oldLines.findIndex((line, position) => line.trim() !== "" && given[position]?.trim() !== "");
  const from = indentOf(oldLines[index] ?? "");
  const to = indentOf(given[index] ?? "");
  if (from === to) return (line) => line;
  return (line) => (line.trim() !== "" && line.startsWith(from) ? to + line.slice(from.length) : line);
}
