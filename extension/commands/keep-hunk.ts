import { decideHunk } from "../review/decide-hunk.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.keepHunk",
  run: ({ review, opener }, ...args) => decideHunk(review, opener, "keep", args),
};
