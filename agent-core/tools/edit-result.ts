/** What the model gets back of an edit: a unified diff, cut when it is long. */
import { type StructuredPatchHunk, structuredPatch } from "diff";

/** What a tool wants to write. */
export type Edit = {
  /** For messages. */
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  readonly newText: string;
};

const MAX_DIFF_LINES = 200;
/** Around each change. */
const CONTEXT_LINES = 3;
/** Comparing two large, different texts can take for ever; a diff that needs longer is left out. */
const DIFF_TIMEOUT_MS = 500;

/** Empty when the texts are equal. `path` is what to show. */
export function unifiedDiff(path: string, oldText: string, newText: string): string {
  if (oldText === newText) return "";
  const { head, oldMiddle, newMiddle } = changedMiddle(oldText, newText);
  const patch = structuredPatch(path, path, oldMiddle, newMiddle, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: DIFF_TIMEOUT_MS,
  });
  if (patch === undefined) return "[the diff is too large to show]";
  const lines = [`--- ${path}`, `+++ ${path}`, ...patch.hunks.flatMap((hunk) => hunkLines(hunk, head))];
  if (lines.length <= MAX_DIFF_LINES) return lines.join("\n").trimEnd();
  return `${lines.slice(0, MAX_DIFF_LINES).join("\n")}\n[… ${lines.length - MAX_DIFF_LINES} more lines of diff]`;
}

type Middle = {
  /** Lines before the middle. */
  readonly head: number;
  readonly oldMiddle: string;
  readonly newMiddle: string;
};

/** Only what differs is compared line by line, with its context: of a long file that is little. */
function changedMiddle(oldText: string, newText: string): Middle {
  const shorter = Math.min(oldText.length, newText.length);
  let same = 0;
  while (same < shorter && oldText.charCodeAt(same) === newText.charCodeAt(same)) same++;
  let tail = 0;
  while (
    tail < shorter - same &&
    oldText.charCodeAt(oldText.length - 1 - tail) === newText.charCodeAt(newText.length - 1 - tail)
  ) {
    tail++;
  }
  let from = same;
  // `lastIndexOf` takes a place before the text for its beginning.
  for (let line = 0; line <= CONTEXT_LINES && from >= 0; line++)
    from = from === 0 ? -1 : oldText.lastIndexOf("\n", from - 1);
  const start = from + 1;
  let end = oldText.length - tail;
  for (let line = 0; line <= CONTEXT_LINES && end >= 0; line++) end = oldText.indexOf("\n", end + (line > 0 ? 1 : 0));
  const cut = end < 0 ? 0 : oldText.length - end - 1;
  return {
    head: countBreaks(oldText, start),
    oldMiddle: oldText.slice(start, oldText.length - cut),
    newMiddle: newText.slice(start, newText.length - cut),
  };
}

function countBreaks(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** A side without lines begins at the line before, as diffs have it. */
function hunkLines(hunk: StructuredPatchHunk, head: number): readonly string[] {
  const { oldStart, oldLines, newStart, newLines } = hunk;
  const side = (start: number, count: number): string => `${start + head - (count === 0 ? 1 : 0)},${count}`;
  return [`@@ -${side(oldStart, oldLines)} +${side(newStart, newLines)} @@`, ...hunk.lines];
}
