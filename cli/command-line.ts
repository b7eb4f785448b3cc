/** Parsing of the command line. */
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { hasCode, messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { editDistance, nearestNames } from "../agent-core/platform/names.ts";
import { command as chat } from "./commands/chat.ts";
import type { Definition, Invocation, Option } from "./subcommand.ts";
import { elsewhere, subcommands } from "./subcommands.ts";

export type CommandLine =
  | { readonly kind: "run"; readonly name: string; readonly command: Definition; readonly invocation: Invocation }
  /** `name`: default: of the whole program. */
  | { readonly kind: "help"; readonly name?: string }
  | { readonly kind: "version" };

const QUOTES = "Put a prompt into quotes.";
const DASHES = 'A prompt that begins with "-" comes after "--".';

/** Options of every subcommand. */
const COMMON: Readonly<Record<string, Option>> = {
  help: { kind: "flag", short: "h", summary: "print the help of the command" },
};

/** Words of the command line without `node` and the program. Rejects with a UsageError in one line. */
export async function parseCommandLine(words: readonly string[]): Promise<CommandLine> {
  const args = hyphenated(words);
  const found = firstWords(args);
  const help = asksForHelp(found.map(({ word }) => word));
  if (help !== undefined) return help;
  if (found.length === 1 && found[0]?.word === "version") return { kind: "version" };
  const [first, second] = found;
  const name = first !== undefined && Object.hasOwn(subcommands, first.word) ? first.word : undefined;
  if (name !== undefined && first !== undefined) {
    const command = await definitionOf(name);
    const invocation = parseInvocation(name, command, args.toSpliced(first.index, 1));
    return invocation === undefined ? { kind: "help", name } : { kind: "run", name, command, invocation };
  }
  if (first !== undefined) {
    refuseElsewhere(found.map(({ word }) => word));
    await refuseMistyped(first.word, second?.word, found.length);
  }
  const invocation = parseInvocation("", chat, args);
  if (invocation === undefined) return { kind: "help" };
  return invocation.values["version"] === true
    ? { kind: "version" }
    : { kind: "run", name: "", command: chat, invocation };
}

/** Definition of a subcommand in the table. */
export async function definitionOf(name: string): Promise<Definition> {
  const known = subcommands[name];
  if (known === undefined) throw new UsageError(`there is no command "${name}"`);
  return (await known.load()).command;
}

/** The original's names of options have underscores. */
function hyphenated(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return words.map((word, index) =>
    end >= 0 && index >= end ? word : word.replace(/^--[a-z][\w-]*/, (option) => option.replaceAll("_", "-")),
  );
}

type Word = { readonly word: string; readonly index: number };

/** Words before `--` that are neither options nor their values, by the options of a prompt. */
function firstWords(args: readonly string[]): readonly Word[] {
  const { tokens } = parseArgs({ ...parserOptions(chat, args), strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? args.length;
  return tokens.flatMap((token) =>
    token.kind === "positional" && token.index < end ? [{ word: token.value, index: token.index }] : [],
  );
}

/** `help` alone, or with a command before or after it. */
function asksForHelp(words: readonly string[]): CommandLine | undefined {
  const others = words.filter((word) => word !== "help");
  const [name] = others;
  if (others.length === words.length || others.length > 1) return undefined;
  if (name === undefined) return { kind: "help" };
  if (name === "version") return { kind: "help" };
  return Object.hasOwn(subcommands, name) ? { kind: "help", name } : undefined;
}

/** Undefined for a question for help. Throws a UsageError. */
export function parseInvocation(name: string, command: Definition, args: readonly string[]): Invocation | undefined {
  let parsed: ReturnType<typeof parseArgs>;
  const known = optionsOf(command);
  try {
    parsed = parseArgs({ ...parserOptions(command, args), allowNegative: true });
  } catch (error) {
    // The parser's further sentences advise something else.
    const [problem = ""] = messageOf(error).split(/[.\n]/, 1);
    const help = ["hermes", name, "--help"].filter((word) => word !== "").join(" ");
    throw new UsageError(`${problem}. ${help} lists the options. ${DASHES}`);
  }
  if (parsed.values["help"] === true) return undefined;
  const { verb, operands } = verbOf(name, command, parsed.positionals);
  const values: Record<string, unknown> = {};
  for (const [option, definition] of Object.entries(known)) {
    const given = parsed.values[option];
    if (given !== undefined && definition.verbs?.includes(verb) === false) {
      throw new UsageError(`--${option} belongs to hermes ${name} ${definition.verbs.join(", ")}`);
    }
    values[option] = optionValue(option, definition, given);
  }
  return { verb, operands, values: values as Invocation["values"] }; // by the definition's own kinds
}

function optionsOf(command: Definition): Readonly<Record<string, Option>> {
  return { ...command.options, ...COMMON };
}

function parserOptions(command: Definition, args: readonly string[]) {
  const options = Object.entries(optionsOf(command)).map(([name, { kind, short }]) => [
    name,
    { type: kind === "flag" ? "boolean" : "string", multiple: kind === "list", ...(short !== undefined && { short }) },
  ]);
  return { args: [...args], allowPositionals: true, options: Object.fromEntries(options) } as const;
}

function optionValue(name: string, option: Option, given: unknown): unknown {
  const { kind, default: fallback, choices } = option;
  if (kind === "flag") return given === true;
  if (kind === "list") return given ?? [];
  const value = given ?? fallback;
  if (value === undefined) return undefined;
  if (choices?.includes(String(value)) === false) {
    throw new UsageError(`--${name} ${String(value)}: expected ${choices.join(", ")}`);
  }
  if (name === "cwd") return existingFolder(String(value));
  if (kind === "text") return value;
  return kind === "time" ? timeOf(name, String(value)) : numberOf(name, String(value), option);
}

function numberOf(name: string, text: string, { min = 0, isFraction = false }: Option): number {
  const number = Number(text);
  if (!Number.isFinite(number) || text.trim() === "") throw new UsageError(`--${name} ${text}: expected a number`);
  if (number >= min && (isFraction || Number.isInteger(number))) return number;
  throw new UsageError(`--${name} is ${number}. Give a ${isFraction ? "" : "whole "}number from ${min} on.`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A number alone means seconds. */
function timeOf(name: string, text: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  throw new UsageError(`--${name} is ${JSON.stringify(text)}. Give a time such as 90s, 30m or 2h.`);
}

function existingFolder(path: string): string {
  const folder = resolve(path);
  const problem = folderProblem(folder, { canBeNew: false });
  if (problem !== undefined) throw new UsageError(`--cwd: ${problem}`);
  return folder;
}

/** Problem of the path; undefined for a folder, or for a path where one can be made. */
export function folderProblem(path: string, { canBeNew }: { readonly canBeNew: boolean }): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`;
    accessSync(path, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) return `${path} cannot be used: ${messageOf(error)}`;
    return canBeNew ? undefined : `${path} does not exist`;
  }
}

function verbOf(name: string, command: Definition, words: readonly string[]): { verb: string; operands: string[] } {
  const { verbs } = command;
  const names = Object.keys(verbs ?? {});
  const verb = verbs === undefined ? "" : (words[0] ?? names[0] ?? "");
  const operands = verbs === undefined ? [...words] : words.slice(1);
  const known = verbs !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (verbs !== undefined && known === undefined) throw new UsageError(unknownVerb(name, names, words));
  const { min, max } = arity(known === undefined ? command.operands : known.operands);
  if (operands.length > max) {
    throw new UsageError(verbs === undefined ? tooMany(name, max) : unknownVerb(name, names, words));
  }
  if (operands.length < min)
    throw new UsageError(`${name} ${verb} needs ${known?.needs ?? known?.operands ?? "more words"}`);
  return { verb, operands };
}

/** Numbers of operands: `[NAME]` is optional, and `NAME…` repeats. */
function arity(operands = ""): { readonly min: number; readonly max: number } {
  const names = operands.split(" ").filter((word) => word !== "");
  const min = names.filter((each) => !each.startsWith("[")).length;
  return { min, max: names.some((each) => each.includes("…")) ? Number.POSITIVE_INFINITY : names.length };
}

function tooMany(name: string, max: number): string {
  return `${name} takes ${max === 0 ? "no argument" : `at most ${max}`}. ${QUOTES}`;
}

/** Problem of words after a command that it does not have: they are not a prompt, which would cost a model call. */
function unknownVerb(command: string, verbs: readonly string[], words: readonly string[]): string {
  return `${command} has no command "${words.join(" ")}". Available: ${verbs.join(", ")}. ${QUOTES}`;
}

/** A command of a similar agent, alone or with a word, is not a prompt; longer lines are sentences. */
function refuseElsewhere(words: readonly string[]): void {
  const [word = ""] = words;
  const purpose = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  if (purpose === undefined || words.length > 2) return;
  throw new UsageError(`there is no command "${word}": ${purpose}. A prompt: hermes -- ${words.join(" ")}`);
}

function lettersOf(word: string): string {
  return [...word.toLowerCase()].sort((one, other) => (one < other ? -1 : 1)).join("");
}

/** A word that is nearly a command is not a prompt, which would cost a model call. */
async function refuseMistyped(word: string, verb: string | undefined, count: number): Promise<void> {
  const [near] = nearestNames(word, Object.keys(subcommands), 1);
  // A word such as /skills is a slash command.
  if (near === undefined || count > 4 || word.trimStart().startsWith("/")) return;
  // Two swapped letters are two edits.
  const maximum = near.length > 5 || lettersOf(word) === lettersOf(near) ? 2 : 1;
  if (editDistance(word.toLowerCase(), near) > maximum) return;
  const { verbs } = await definitionOf(near);
  if (verb !== undefined && (verbs === undefined || !Object.hasOwn(verbs, verb))) return;
  const meant = ["hermes", near, verb].filter((each) => each !== undefined).join(" ");
  const rest = verb !== undefined && count > 2 ? " …" : "";
  throw new UsageError(`there is no command "${word}". Did you mean \`${meant}${rest}\`? A prompt: hermes -- ${word}`);
}
