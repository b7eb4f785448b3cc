/** Unified diff of an edit for the model, cut when it is long. */
import { type StructuredPatchHunk, structuredPatch } from "diff";
import { commonLines, countBreaks, MAX_CHANGED_LINES } from "../platform/hunks.ts";

const MAX_DIFF_LINES = 200;
/** Unchanged lines around each change. */
const CONTEXT_LINES = 3;

/** At most `maxLines` lines; empty when the texts are equal. `path` is for display. */
export function unifiedDiff(path: string, oldText: string, newText: string, maxLines = MAX_DIFF_LINES): string {
  const lines = diffLines(path, oldText, newText);
  if (lines === undefined) return "[the diff is too large to show]";
  if (lines.length <= maxLines) return lines.join("\n").trimEnd();
  return `${lines.slice(0, maxLines).join("\n")}\n[… ${lines.length - maxLines} more lines of diff]`;
}

/** Lines of the whole diff; undefined when the texts are too different to compare. */
export function diffLines(path: string, oldText: string, newText: string): readonly string[] | undefined {
  if (oldText === newText) return [];
  const { start, end } = commonLines(oldText, newText);
  const from = contextStart(oldText, start);
  const tail = oldText.length - contextEnd(oldText, oldText.length - end);
  const inner = (text: string): string => text.slice(from, text.length - tail);
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_CHANGED_LINES };
  const patch = structuredPatch("", "", inner(oldText), inner(newText), undefined, undefined, options);
  if (patch === undefined) return undefined;
  const head = countBreaks(oldText, from);
  return [`--- ${path}`, `+++ ${path}`, ...patch.hunks.flatMap((hunk) => hunkLines(hunk, head))];
}

/** Start of the context before a line start. */
function contextStart(text: string, offset: number): number {
  let start = offset;
  for (let line = 0; line < CONTEXT_LINES && start > 0; line++) {
    // `lastIndexOf` treats a negative offset as the beginning.
    start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  }
  return start;
}

function contextEnd(text: string, offset: number): number {
  let end = offset;
  for (let line = 0; line < CONTEXT_LINES && end < text.length; line++)
    end = text.indexOf("\n", end) + 1 || text.length;
  return end;
}

/** `head`: number of lines before the compared ones. In the unified format, a side without lines begins at the line before. */
function hunkLines({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk, head: number): string[] {
  const side = (start: number, count: number): string => `${head + start - (count === 0 ? 1 : 0)},${count}`;
  return [`@@ -${side(oldStart, oldLines)} +${side(newStart, newLines)} @@`, ...lines];
}
