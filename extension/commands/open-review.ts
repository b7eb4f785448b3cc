import { reviewedPath } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.openReview",
  async run({ review, editors }, ...args) {
    const path = reviewedPath(review, args) ?? review.files[0]?.path;
    if (path !== undefined) await editors.openDiff(path, false);
  },
};
