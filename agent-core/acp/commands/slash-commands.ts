/** The slash commands: a message that begins with `/name` runs the command and does not reach the model. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { CommandAnswer, ExtensionCommand } from "../../agent/extensions.ts";
import type { Command, CommandSession } from "./command.ts";
import { cron } from "./cron-command.ts";
import { exportToFile, importSessions, newSession, resume, title } from "./history-commands.ts";
import { learning, report } from "./learning-commands.ts";
import { memory } from "./memory-command.ts";
import { compress, model, usage } from "./model-commands.ts";
import { carryOut, grants, mode, status } from "./permission-commands.ts";
import { checkpoint, retry, undo } from "./restore-commands.ts";
import { queue, steer, stop } from "./turn-commands.ts";

const COMMAND_LINE = /^\/([a-z][a-z0-9_:.-]*)(?:\s+([\s\S]*))?$/;

const help: Command = {
  name: "help",
  description: "List the commands",
  async run(_argument, session) {
    await session.agent.settleExtensions(session.signal);
    const lines = [...commands, ...session.agent.commands].map(
      ({ name, description, hint }) => `- \`/${name}${hint ? ` ${hint}` : ""}\` ${description}`,
    );
    return [
      "Describe a task: the agent reads and edits files and runs commands in this workspace.",
      "",
      ...lines,
      "",
      `Mode: \`${session.mode}\`. Model: \`${session.agent.model.model}\`.`,
    ].join("\n");
  },
};

const tools: Command = {
  name: "tools",
  description: "List the agent's tools",
  async run(_argument, { agent, signal }) {
    await agent.settleExtensions(signal);
    return agent.toolNames.map((name) => `- \`${name}\``).join("\n");
  },
};

/** In the order in which editors list them. */
const commands: readonly Command[] = [
  carryOut,
  checkpoint,
  compress,
  cron,
  exportToFile,
  grants,
  help,
  importSessions,
  learning,
  memory,
  mode,
  model,
  newSession,
  queue,
  report,
  resume,
  retry,
  status,
  steer,
  stop,
  title,
  tools,
  undo,
  usage,
];

/** The command's answer; undefined when `text` is an ordinary message, such as one with words after an unknown command. */
export async function runCommand(text: string, session: CommandSession): Promise<CommandAnswer | undefined> {
  const { name, argument } = commandIn(text);
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) {
    const isMeant = argument === "" || command.hint !== undefined || command === stop;
    return isMeant ? command.run(argument, session) : `Nothing was done: \`/${command.name}\` takes no words after it.`;
  }
  if (name === undefined) return undefined;
  await session.agent.settleExtensions(session.signal);
  const further = session.agent.commands.find((candidate) => candidate.name === name);
  if (further !== undefined) return further.run(argument, session.signal);
  return argument === "" ? `There is no command \`/${name}\`: \`/help\` lists the commands.` : undefined;
}

/** The command's name in a message, and the text after it. `name` is undefined for an ordinary message. */
export function commandIn(text: string): { readonly name: string | undefined; readonly argument: string } {
  const [, name, argument = ""] = COMMAND_LINE.exec(text.trim()) ?? [];
  return { name, argument: argument.trim() };
}

/** The built-in commands, then those of extensions. A built-in command hides an extension's command with the same name. */
export function availableCommands(further: readonly ExtensionCommand[]): AvailableCommand[] {
  const names = new Set(commands.map(({ name }) => name));
  return [...commands, ...further.filter(({ name }) => !names.has(name))].map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}
