import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.stop", run: ({ chat }) => chat.cancel() };
