/** A file under review: its text before the agent and now, and the hunks between them. */
import { type Hunk, hunksBetween } from "./hunks.ts";

/**
 * `path` is absolute; `baseline` is null where there was no file before. `isGone`: the agent has removed the file, and
 * `present` is empty. Never changed in place.
 */
export type ReviewedText = {
  readonly path: string;
  readonly baseline: string | null;
  readonly present: string;
  readonly isGone?: true;
};

/** What stands in the file: null when it is gone. */
export function textInFile({ present, isGone }: ReviewedText): string | null {
  return isGone ? null : present;
}

const known = new WeakMap<ReviewedText, readonly Hunk[]>();

/** Worked out once for each text. */
export function hunksOf(text: ReviewedText): readonly Hunk[] {
  let hunks = known.get(text);
  if (hunks === undefined) {
    hunks = hunksBetween(text.baseline ?? "", text.present);
    known.set(text, hunks);
  }
  return hunks;
}
