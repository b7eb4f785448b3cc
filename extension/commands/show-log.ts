import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.showLog", run: ({ log }) => log.show(true) };
