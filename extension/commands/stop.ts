import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.stop",
  run: ({ sessions }) => sessions.shown.dispatch({ type: "cancel" }),
};
