import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.restartAgent", run: ({ worker }) => worker.restart() };
