import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.keepAll", run: ({ review }) => review.keepAll() };
