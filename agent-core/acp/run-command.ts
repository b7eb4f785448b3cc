/** Slash commands: a message that begins with the name of one is for us, not for the model. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { CommandAnswer, CommandSession } from "./commands/command.ts";
import { table } from "./commands/table.gen.ts";

const COMMAND_LINE = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/;

/** The command's answer; undefined when `text` is an ordinary message, unknown commands included. */
export async function runCommand(text: string, session: CommandSession): Promise<CommandAnswer | undefined> {
  const [, name, argument = ""] = COMMAND_LINE.exec(text.trim()) ?? [];
  const command = table.find((candidate) => candidate.name === name);
  return command?.run(argument.trim(), session, table);
}

export function availableCommands(): AvailableCommand[] {
  return table.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}
