import { hunkOfChange } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.undoChange",
  async run({ review }, ...args) {
    const place = hunkOfChange(review, args);
    if (place) await review.undo(place.uri, place.hunk);
  },
};
