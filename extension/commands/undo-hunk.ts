import { hunkAt } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.undoHunk",
  async run({ review }, ...args) {
    const place = hunkAt(review, args);
    if (place) await review.undo(place.uri, place.hunk);
  },
};
