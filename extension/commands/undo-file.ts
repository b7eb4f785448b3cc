import { reviewedPath } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.undoFile",
  run({ review }, ...args) {
    const path = reviewedPath(review, args);
    return path === undefined ? undefined : review.undoFile(path);
  },
};
