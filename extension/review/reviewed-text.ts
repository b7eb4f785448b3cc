/** A file under review: its text before the agent and now, and the hunks between them. */
import { type Hunk, hunksBetween } from "./hunks.ts";

/** `path` is absolute; `baseline` is null where there was no file before. Never changed in place. */
export type ReviewedText = { readonly path: string; readonly baseline: string | null; readonly present: string };

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
