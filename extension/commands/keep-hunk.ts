import { hunkAt } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepHunk",
  async run({ review, opener }, ...args) {
    // The hunk that is meant is the one that the keys before have led to.
    const place = await opener.inTurn(() => Promise.resolve(hunkAt(review, opener.caret, args)));
    if (place) review.keep(place.uri, place.hunk);
  },
};
