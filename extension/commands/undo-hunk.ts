import { hunkAt } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.undoHunk",
  run: ({ review, opener }, ...args) =>
    opener.keys.take(async () => {
      const place = hunkAt(review, opener.caret, args);
      if (place) await review.undo(place.uri, place.hunk);
    }),
};
