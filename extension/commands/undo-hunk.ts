import { hunkAt } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.undoHunk",
  async run({ review, opener }, ...args) {
    // The hunk that is meant is the one that the keys before have led to.
    const place = await opener.inTurn(() => Promise.resolve(hunkAt(review, opener.caret, args)));
    if (place) await review.undo(place.uri, place.hunk);
  },
};
