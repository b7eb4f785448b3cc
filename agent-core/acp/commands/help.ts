import type { Command } from "./command.ts";

export const command: Command = {
  name: "help",
  description: "Show what can be typed here",
  run(_argument, session, commands) {
    const lines = commands.map(
      ({ name, description, hint }) => `- \`/${name}${hint ? ` ${hint}` : ""}\` ${description}`,
    );
    return [
      "Write what you want done; the agent reads, edits and runs things in this workspace.",
      "",
      ...lines,
      "",
      `Mode: \`${session.mode}\`. Model: \`${session.agent.model.model}\`.`,
    ].join("\n");
  },
};
