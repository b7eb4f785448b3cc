/** Verdicts on the hunks of a turn: each is compared with the present text of its file. */
import { structuredPatch } from "diff";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { FileDiff } from "../tools/tool.ts";

/** Comparing two large, different texts can take minutes. */
const MAX_CHANGED_LINES = 1_000;

/** Texts of a file before and after the turn that edited it. */
export type LeftFile = { readonly path: string; readonly before: string; readonly after: string };

/** Texts before the first and after the last edit of each file. A deleted or too large file is left out. */
export function leftBy(edits: readonly FileDiff[], maxFiles: number, maxChars: number): readonly LeftFile[] {
  const files = new Map<string, LeftFile | undefined>();
  for (const { path, oldText, newText } of edits) {
    const before = files.get(path)?.before ?? oldText ?? "";
    if (files.has(path) || files.size < maxFiles) {
      files.set(path, newText === null ? undefined : { path, before, after: newText });
    }
  }
  return [...files.values()]
    .filter((file) => file !== undefined)
    .filter(({ before, after }) => before.length + after.length <= maxChars);
}

type Texts = { readonly before: string; readonly after: string; readonly now: string };

/** Changed lines; the range is of the first text's lines, from 0. */
type Change = { readonly start: number; readonly removed: readonly string[]; readonly added: readonly string[] };

/** One verdict for each hunk between the texts before and after, by the present text. */
export function verdictsOn({ before, after, now }: Texts): readonly Omit<ReviewOutcome, "path">[] {
  const since = changes(after, now);
  let shift = 0;
  return changes(before, after).map((hunk) => {
    const start = hunk.start + shift;
    shift += hunk.added.length - hunk.removed.length;
    const lines = hunk.added.length + hunk.removed.length;
    const touching = since.filter((change) => overlaps(change, { start, end: start + hunk.added.length }));
    if (touching.length === 0) return { outcome: "kept", lines };
    const returned = touching.flatMap(({ added }) => added);
    return { outcome: returned.join("\n") === hunk.removed.join("\n") ? "undone" : "retyped", lines };
  });
}

/** True for a change of these lines; an insertion counts between them, or in the place of a hunk without lines. */
function overlaps({ start, removed }: Change, range: { readonly start: number; readonly end: number }): boolean {
  if (range.start === range.end) return removed.length === 0 && start === range.start;
  if (removed.length === 0) return start > range.start && start < range.end;
  return start < range.end && start + removed.length > range.start;
}

/** None for texts that differ too much. */
function changes(from: string, to: string): readonly Change[] {
  const patch = structuredPatch("", "", from, to, "", "", { context: 0, maxEditLength: MAX_CHANGED_LINES });
  return (patch?.hunks ?? []).map(({ oldStart, lines }) => ({
    start: oldStart - 1,
    removed: lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1)),
    added: lines.filter((line) => line.startsWith("+")).map((line) => line.slice(1)),
  }));
}
