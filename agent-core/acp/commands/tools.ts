import type { Command } from "./command.ts";

export const command: Command = {
  name: "tools",
  description: "List the tools the agent has",
  run: (_argument, { agent }) => agent.toolNames.map((name) => `- \`${name}\``).join("\n"),
};
