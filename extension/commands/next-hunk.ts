import { revealHunk } from "../review/reveal-hunk.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.nextHunk",
  run: ({ review, opener }, ...args) => revealHunk(review, opener, 1, args),
};
