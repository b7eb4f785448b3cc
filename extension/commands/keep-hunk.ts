import { hunkAt } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepHunk",
  run({ review }, ...args) {
    const place = hunkAt(review, args);
    if (place) review.keep(place.uri, place.hunk);
  },
};
