/**
 * The new lines for a place that was not found exactly: lines that the edit leaves alone stay as the file has them, the
 * others are indented as the place is.
 */
import { diffArrays } from "diff";
import { reindenter } from "./reindent.ts";

/** `given` are the file's lines, one for each of `oldLines`. */
export function fitLines(
  given: readonly string[],
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly string[] {
  const reindent = reindenter({ given, oldLines, newLines });
  const fitted: string[] = [];
  let at = 0;
  for (const { added, removed, value } of diffArrays([...oldLines], [...newLines])) {
    if (added) fitted.push(...value.map(reindent));
    else if (!removed) fitted.push(...given.slice(at, at + value.length));
    if (!added) at += value.length;
  }
  return fitted;
}
