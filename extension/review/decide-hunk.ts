/** A key or a lens that keeps or undoes one hunk: the one that is named, else where the keys before it have led to. */
import { hunkAt } from "./hunk-at.ts";
import type { Review } from "./review.ts";
import type { ReviewOpener } from "./review-opener.ts";

export function decideHunk(
  review: Review,
  opener: ReviewOpener,
  verdict: "keep" | "undo",
  args: readonly unknown[],
): Promise<void> {
  return opener.inTurn(async () => {
    const place = hunkAt(review, opener.caret, args);
    if (place === undefined) return;
    if (verdict === "keep") review.keep(place.uri, place.hunk);
    else await review.undo(place.uri, place.hunk);
  });
}
