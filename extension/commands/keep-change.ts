import { hunkOfChange } from "../review/hunk-at.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepChange",
  run({ review }, ...args) {
    const place = hunkOfChange(review, args);
    if (place) review.keep(place.uri, place.hunk);
  },
};
