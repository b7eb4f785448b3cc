import { reviewedPath } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepFile",
  run({ review }, ...args) {
    const path = reviewedPath(review, args);
    return path === undefined ? undefined : review.keepFile(path);
  },
};
