/** Unified diff of an edit for the model, cut when it is long. */
import { type StructuredPatchHunk, structuredPatch } from "diff";
import { diffIslands } from "./diff-islands.ts";

const MAX_DIFF_LINES = 200;
/** Characters of both texts together; comparing them takes about a millisecond. */
const COMPARED_WHOLE_CHARS = 40_000;
/** Unchanged lines around each change. */
const CONTEXT_LINES = 3;
/** Comparing two large, different texts can take minutes; this many changed lines take half a second. */
const MAX_CHANGED_LINES = 2_000;

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
  const lines = [`--- ${path}`, `+++ ${path}`];
  for (const part of partsOf(oldText, newText)) {
    const patch = structuredPatch("", "", part.oldText, part.newText, undefined, undefined, {
      context: CONTEXT_LINES,
      maxEditLength: MAX_CHANGED_LINES,
    });
    if (patch === undefined) return undefined;
    lines.push(...patch.hunks.flatMap((hunk) => hunkLines(hunk, part)));
  }
  return lines;
}

type Part = {
  readonly oldText: string;
  readonly newText: string;
  /** Number of lines before the part. */
  readonly oldHead: number;
  readonly newHead: number;
};

/** Parts to compare line by line: of long texts only the lines that differ, with their context. */
function partsOf(oldText: string, newText: string): readonly Part[] {
  if (oldText.length + newText.length <= COMPARED_WHOLE_CHARS) return [{ oldText, newText, oldHead: 0, newHead: 0 }];
  const parts: Part[] = [];
  let [oldHead, newHead, oldAt, newAt] = [0, 0, 0, 0];
  for (const { oldFrom, oldTo, newFrom, newTo } of diffIslands(oldText, newText)) {
    const oldStart = contextStart(oldText, oldFrom);
    const newStart = newFrom - (oldFrom - oldStart);
    oldHead += countBreaks(oldText, oldAt, oldStart);
    newHead += countBreaks(newText, newAt, newStart);
    [oldAt, newAt] = [oldStart, newStart];
    const oldEnd = contextEnd(oldText, oldTo);
    const newEnd = newTo + (oldEnd - oldTo);
    parts.push({
      oldText: oldText.slice(oldStart, oldEnd),
      newText: newText.slice(newStart, newEnd),
      oldHead,
      newHead,
    });
  }
  return parts;
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

function countBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** In the unified format, a side without lines begins at the line before. */
function hunkLines(hunk: StructuredPatchHunk, { oldHead, newHead }: Part): readonly string[] {
  const { oldStart, oldLines, newStart, newLines } = hunk;
  const side = (start: number, count: number): string => `${start - (count === 0 ? 1 : 0)},${count}`;
  return [`@@ -${side(oldStart + oldHead, oldLines)} +${side(newStart + newHead, newLines)} @@`, ...hunk.lines];
}
