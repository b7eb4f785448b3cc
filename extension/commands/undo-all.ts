import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.undoAll", run: ({ review }) => review.undoAll() };
