/** Help of the program and of each subcommand, made from their definitions. */
import { definitionOf } from "./command-line.ts";
import type { Definition, Option } from "./subcommand.ts";
import { subcommands } from "./subcommands.ts";

const INTRODUCTION = `hermes: the Hermes agent on the command line.

  hermes [options] "prompt"     send a prompt; without one, standard input is the prompt
  git diff | hermes "review"    attach the output of a command, or a file (< FILE), to the prompt
  hermes COMMAND --help         show the options and examples of a command
`;

const EPILOGUE = `      --                  the words after it are a prompt, whatever they are

The answer goes to standard output, tool calls to standard error.
Exit codes: 0 done, 1 an error or an answer that is not complete, 2 wrong command line, 75 try again later, 130 interrupted.
`;

const SUMMARY_COLUMN = 26;

/** `name`: of a subcommand; default: the whole program. */
export async function helpText(name?: string): Promise<string> {
  if (name === undefined) {
    const lines = Object.entries(subcommands).map(([word, { summary }]) => row(word, summary));
    const { options = {} } = await definitionOf("chat");
    return `${INTRODUCTION}\nCommands:\n${lines.join("")}\nOptions:\n${optionRows(options)}${EPILOGUE}`;
  }
  const command = await definitionOf(name);
  const { options = {}, examples } = command;
  const shown = examples.map(([line, purpose]) => `  hermes ${line}\n      ${purpose}\n`);
  const summary = subcommands[name]?.summary ?? "";
  return [
    `hermes ${name}: ${summary}.\n`,
    `Usage:\n${usageRows(name, command)}`,
    `Options:\n${optionRows(options)}`,
    `Examples:\n${shown.join("")}`,
  ].join("\n");
}

function usageRows(name: string, { verbs, operands = "" }: Definition): string {
  if (verbs === undefined) return `  ${["hermes", name, "[options]", operands].join(" ").trimEnd()}\n`;
  const rows = Object.entries(verbs).map(([verb, each], index) =>
    row([verb, each.operands ?? ""].join(" ").trimEnd(), index === 0 ? `${each.summary} (the default)` : each.summary),
  );
  return `  hermes ${name} [COMMAND] [options]\n\nCommands:\n${rows.join("")}`;
}

function optionRows(options: NonNullable<Definition["options"]>): string {
  const rows = Object.entries(options).map(([name, option]) => optionRow(name, option));
  return `${rows.join("")}${optionRow("help", { kind: "flag", short: "h", summary: "print the help of the command" })}`;
}

function optionRow(name: string, { short, value, kind, summary, choices, verbs, ...option }: Option): string {
  const words = [`--${name}`, kind === "flag" ? "" : (value ?? (kind === "number" ? "N" : "TEXT"))].join(" ").trimEnd();
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(option.default === undefined ? [] : [`default: ${option.default}`]),
    ...(kind === "list" ? ["may be repeated"] : []),
    ...(verbs === undefined ? [] : [`only ${verbs.join(", ")}`]),
  ];
  return row(`${short === undefined ? "   " : `-${short},`} ${words}`, [summary, ...notes].join("; "));
}

function row(words: string, summary: string): string {
  const start = `  ${words}`;
  return start.length >= SUMMARY_COLUMN - 1
    ? `${start}\n${" ".repeat(SUMMARY_COLUMN)}${summary}\n`
    : `${start.padEnd(SUMMARY_COLUMN)}${summary}\n`;
}
