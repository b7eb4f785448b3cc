/**
 * Commands that are harmless beyond doubt: known programs, every word known before it runs, no redirection into files,
 * no substitution, no assignment. Whatever is not of this kind is not judged here.
 */
import { basename } from "node:path";
import { parse } from "unbash";
import * as z from "zod";

/** Parts of a word whose value is known from its text. */
const KNOWN_PARTS = new Set(["Literal", "SingleQuoted", "DoubleQuoted"]);
/** Ways of joining commands that add no effect of their own. */
const PLAIN_NODES = new Set(["Script", "Statement", "AndOr", "Pipeline", "Command", "Word", ...KNOWN_PARTS]);

/** Arguments that let a reading program write or run something. */
const NEVER: RegExp = /^$/;

/** Programs that only read, and the arguments that would make them do more. */
const READERS: ReadonlyMap<string, RegExp> = new Map([
  ["cat", NEVER],
  ["head", NEVER],
  ["tail", /^-[a-zA-Z]*[fF]|^--follow/],
  ["wc", NEVER],
  ["ls", NEVER],
  ["pwd", NEVER],
  ["echo", NEVER],
  ["printf", /^-v/],
  ["grep", NEVER],
  ["rg", /^--(?:pre|hostname-bin|search-zip)|^-[a-z]*z/],
  ["diff", NEVER],
  ["cmp", NEVER],
  ["file", /^-C|^--compile/],
  ["stat", NEVER],
  ["du", NEVER],
  ["df", NEVER],
  ["which", NEVER],
  ["basename", NEVER],
  ["dirname", NEVER],
  ["realpath", NEVER],
  ["true", NEVER],
  ["false", NEVER],
  ["test", NEVER],
  ["uname", NEVER],
  ["whoami", NEVER],
  ["nl", NEVER],
  ["cut", NEVER],
  ["tr", NEVER],
  ["find", /^-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fprint0|fls)$/],
]);

/** First words of the project's own building and testing, and of git's looking. */
const EVERYDAY: readonly (readonly string[])[] = [
  ["git", "status"],
  ["git", "log"],
  ["git", "diff"],
  ["git", "show"],
  ["git", "branch", "--list"],
  ["git", "rev-parse"],
  ["git", "ls-files"],
  ["git", "blame"],
  ["npm", "test"],
  ["npm", "run"],
  ["npm", "ls"],
  ["pnpm", "test"],
  ["yarn", "test"],
  ["npx", "tsc"],
  ["npx", "vitest"],
  ["tsc"],
  ["vitest"],
  ["pytest"],
  ["cargo", "test"],
  ["cargo", "check"],
  ["cargo", "build"],
  ["go", "test"],
  ["go", "vet"],
  ["go", "build"],
  ["make"],
  ["node", "--version"],
  ["node", "--test"],
  ["npm", "--version"],
];
/** Options with which git would run or write something. */
const GIT_NEVER = /^(?:--output|--ext-diff|--textconv|-O|--open-files-in-pager|-c$|--exec-path)/;

export type PlainVerdict = {
  readonly harmless: boolean;
  readonly readOnly: boolean;
  /** Words of every simple command; empty when the command is not plain. */
  readonly commands: readonly (readonly string[])[];
};

/** Judges by the parse; anything not understood is not harmless. */
export function judgePlainCommand(command: string): PlainVerdict {
  const commands = plainWords(command);
  if (commands === undefined || commands.length === 0) return { harmless: false, readOnly: false, commands: [] };
  const readOnly = commands.every(onlyReads);
  const harmless = commands.every((words) => onlyReads(words) || isEveryday(words));
  return { harmless, readOnly, commands };
}

function onlyReads([program = "", ...args]: readonly string[]): boolean {
  if (program === "git") return isEveryday([program, ...args]);
  const never = READERS.get(program);
  return never !== undefined && !args.some((arg) => never.test(arg) && arg !== "");
}

function isEveryday(words: readonly string[]): boolean {
  if (words[0] === "git" && words.some((word) => GIT_NEVER.test(word))) return false;
  return EVERYDAY.some((first) => first.every((word, index) => words[index] === word));
}

const wordSchema = z.looseObject({ type: z.literal("Word"), value: z.string() });
const commandSchema = z.looseObject({
  type: z.literal("Command"),
  name: wordSchema.optional(),
  prefix: z.array(z.unknown()),
  suffix: z.array(wordSchema),
});

/** The words of every simple command; undefined when there is anything else in it. */
function plainWords(command: string): readonly (readonly string[])[] | undefined {
  let script: unknown;
  try {
    script = parse(command);
  } catch {
    return undefined; // not shell code that can be read
  }
  if (hasErrors(script)) return undefined;
  const found: (readonly string[])[] = [];
  return collect(script, found) ? found : undefined;
}

function hasErrors(script: unknown): boolean {
  const { errors } = z.looseObject({ errors: z.array(z.unknown()).optional() }).parse(script);
  return errors !== undefined && errors.length > 0;
}

/** False as soon as a node is met that is not plain. */
function collect(value: unknown, found: (readonly string[])[]): boolean {
  if (Array.isArray(value)) return value.every((item) => collect(item, found));
  if (!isNode(value)) return true;
  if (!PLAIN_NODES.has(value.type) || value["background"] === true) return false;
  if (value.type === "Command" && !takeCommand(value, found)) return false;
  // The parts of a word are worked out when they are asked for: they are no property of its own.
  const children = value.type === "Word" ? [value["parts"]] : Object.values(value);
  return children.every((child) => collect(child, found));
}

function isNode(value: unknown): value is { readonly type: string; readonly [property: string]: unknown } {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function takeCommand(node: unknown, found: (readonly string[])[]): boolean {
  const command = commandSchema.safeParse(node).data;
  if (command?.name === undefined || command.prefix.length > 0) return false;
  const words = [command.name, ...command.suffix].map(({ value }) => value);
  if (words[0] !== basename(words[0] ?? "")) return false;
  found.push(words);
  return true;
}
