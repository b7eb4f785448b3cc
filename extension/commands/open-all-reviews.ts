import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.openAllReviews", run: ({ opener }) => opener.openAll() };
