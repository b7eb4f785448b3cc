/** Recognising the model's own edits that somebody took back. Pure. */
import { structuredPatch } from "diff";

/** Comparing two large, different texts can take for ever: beyond this, half a second, edits are not recognised. */
const MAX_CHANGED_LINES = 2_000;

/**
 * How many of the changes from `known` (what the model left) to `present` put back lines as one of the texts before
 * its edits had them.
 */
export function countUndone(known: string, present: string, textsBefore: readonly string[]): number {
  const undoing = new Set(textsBefore.flatMap((before) => changes(known, before)));
  return changes(known, present).filter((change) => undoing.has(change)).length;
}

/** Each change as its place in the old text and its lines. */
function changes(from: string, to: string): readonly string[] {
  const patch = structuredPatch("", "", from, to, undefined, undefined, {
    context: 0,
    maxEditLength: MAX_CHANGED_LINES,
  });
  return (patch?.hunks ?? []).map(({ oldStart, lines }) => [oldStart, ...lines].join("\n"));
}
