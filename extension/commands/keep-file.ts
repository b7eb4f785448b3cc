import { reviewedDocument } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepFile",
  run({ review }, ...args) {
    const uri = reviewedDocument(review, args);
    if (uri) review.keepFile(uri);
  },
};
