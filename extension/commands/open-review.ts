import { reviewedDocument } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.openReview",
  async run({ review, opener }, ...args) {
    const uri = reviewedDocument(review, args) ?? review.documents[0];
    if (uri) await opener.openDiff(uri, false);
  },
};
