/** Prompts of a server as slash commands: `/server:prompt first second` or `/server:prompt name=value`. */
import type { CommandAnswer, ExtensionCommand } from "../agent/extensions.ts";
import { attachedText } from "../messages/attached-text.ts";
import { messageOf } from "../platform/errors.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { ServerPrompt } from "./server-answers.ts";
import { withoutInvisible } from "./server-schema.ts";
import type { SessionServer } from "./server-tools.ts";
import { promptText } from "./tool-result.ts";

/** Words of an argument: quoted text is one word. */
const WORD = /(?:[^\s"]|"[^"]*")+/g;
/** Length of a description in the list of commands. Characters. */
const DESCRIPTION_CHARS = 200;

/** The commands of a server. A prompt whose name gives the name of another one is left out. */
export function promptCommands(server: SessionServer, ask: ToolContext["ask"]): readonly ExtensionCommand[] {
  const { config, connection } = server;
  if (!config.prompts) return [];
  const commands = connection.listing.prompts.map((prompt): ExtensionCommand => {
    const hint = hintOf(prompt);
    const description = withoutInvisible(prompt.description ?? prompt.title ?? prompt.name).replaceAll(/\s+/g, " ");
    return {
      name: commandName(config.name, prompt),
      description: `${description.slice(0, DESCRIPTION_CHARS)} (MCP server ${config.name})`,
      ...(hint !== "" && { hint }),
      run: (argument, signal) => runPrompt({ server, ask, prompt }, argument, signal),
    };
  });
  return [...new Map(commands.map((command) => [command.name, command])).values()];
}

function commandName(server: string, { name }: ServerPrompt): string {
  return `${commandWord(server)}:${commandWord(name)}`;
}

/** The name in the characters of a command: `[a-z][a-z0-9_.-]*`. */
function commandWord(name: string): string {
  const word = name.toLowerCase().replaceAll(/[^a-z0-9_.-]+/g, "-");
  return /^[a-z]/.test(word) ? word : `x${word}`;
}

function hintOf({ arguments: all = [] }: ServerPrompt): string {
  return all.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

type PromptRun = {
  readonly server: SessionServer;
  readonly ask: ToolContext["ask"];
  readonly prompt: ServerPrompt;
};

async function runPrompt(
  { server: { config, connection, handlersFor }, ask, prompt }: PromptRun,
  argument: string,
  signal: AbortSignal,
): Promise<CommandAnswer> {
  const values = promptArguments(prompt, argument);
  const missing = (prompt.arguments ?? []).find(({ name, required }) => required && values[name] === undefined);
  if (missing !== undefined)
    return `The prompt needs \`${missing.name}\`. Write it after the command: ${hintOf(prompt)}`;
  try {
    const answer = await connection.run({ signal, handlers: handlersFor(ask) }, (client, each) =>
      client.prompt(prompt.name, values, each),
    );
    // The server wrote the text: it does not count as the user's words.
    const name = `prompt ${prompt.name} of ${config.name}`;
    const typed = `/${commandName(config.name, prompt)}${argument === "" ? "" : ` ${argument}`}`;
    const uri = `mcp:${encodeURIComponent(config.name)}/${encodeURIComponent(prompt.name)}`;
    return { ask: [{ type: "text", text: typed }, attachedText(promptText(answer), { name, uri })] };
  } catch (error) {
    signal.throwIfAborted();
    return `The prompt ${prompt.name} of ${config.name} failed: ${messageOf(error)}`;
  }
}

/** `name=value` sets that argument; other words fill the arguments in order, and the last one takes the rest. */
function promptArguments({ arguments: all = [] }: ServerPrompt, argument: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  const words: string[] = [];
  for (const [word] of argument.matchAll(WORD)) {
    const [, name = "", value = ""] = /^([^=]+)=([\s\S]*)$/.exec(word) ?? [];
    if (all.some((each) => each.name === name)) values[name] = unquoted(value);
    else words.push(unquoted(word));
  }
  const open = all.filter(({ name }) => values[name] === undefined);
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1;
    const value = isLast ? words.slice(index).join(" ") : words[index];
    if (value !== undefined && value !== "") values[name] = value;
  }
  return values;
}

function unquoted(word: string): string {
  return word.replaceAll('"', "");
}
