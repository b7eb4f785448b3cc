/** Command line of `hermes`. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { RequestError } from "@zed-industries/agent-client-protocol";
import { messageWithCause } from "../acp/request-errors.ts";
import { DEVICE } from "../mcp/mcp-command.ts";
import { messageOf } from "../platform/errors.ts";
import { editDistance, nearestNames } from "../platform/names.ts";
import { CRON_ACTIONS } from "../protocol/cron.ts";
import type { SkillsCommand, SkillVerb } from "./skills-command.ts";

export type HeadlessOptions = {
  /** Empty: standard input has it. */
  readonly prompt: string;
  readonly allowAll: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly resume: string | undefined;
  readonly json: boolean;
  /** Default: the session's. */
  readonly model: string | undefined;
  /** Default: the session's. */
  readonly mode: string | undefined;
  /** The session is deleted after its only prompt. */
  readonly isTransient: boolean;
};

const PLUGIN_VERBS = ["list", "enable", "disable"] as const;
export type PluginVerb = (typeof PLUGIN_VERBS)[number];

function isPluginVerb(text: string): text is PluginVerb {
  return PLUGIN_VERBS.some((known) => known === text);
}

export type SkillsLine = Pick<SkillsCommand, "verb" | "operand" | "cwd"> & {
  readonly kind: "skills";
  readonly allowAll: boolean;
};

type ParsedCommandLine =
  | { readonly kind: "run"; readonly options: HeadlessOptions }
  | { readonly kind: "doctor"; readonly cwd: string }
  | { readonly kind: "plugins"; readonly verb: PluginVerb; readonly name: string }
  | SkillsLine
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "elsewhere"; readonly command: CommandElsewhere; readonly words: readonly string[] }
  | { readonly kind: "invalid"; readonly message: string };

export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      allowPositionals: true,
      tokens: true,
      options: {
        yes: { type: "boolean", short: "y", default: false },
        cwd: { type: "string", default: "." },
        resume: { type: "string", short: "r" },
        continue: { type: "boolean", short: "c", default: false },
        json: { type: "boolean", default: false },
        model: { type: "string", short: "m" },
        mode: { type: "string" },
        device: { type: "boolean", default: false },
        version: { type: "boolean", short: "v", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { yes: allowAll, json, device } = values;
    const resume = values.resume ?? (values.continue ? "last" : undefined);
    const isPrompt = tokens.some(({ kind }) => kind === "option-terminator");
    const words = isPrompt ? [] : positionals;
    if (values.help || asksForHelp(words)) return { kind: "help" };
    if (values.version || isOnly("version", words)) return { kind: "version" };
    const slashCommand = mcpCommandOf(words, device) ?? slashCommandOf(words);
    if (device && slashCommand?.includes(DEVICE) !== true) return invalid("--device belongs to hermes mcp signin NAME");
    const cwd = resolve(values.cwd);
    const managed = managingLine(words, { cwd, allowAll }) ?? elsewhere(words) ?? mistypedCommand(words);
    if (managed !== undefined) return managed;
    const { model, mode } = values;
    const prompt = slashCommand ?? positionals.join(" ");
    const isTransient = slashCommand !== undefined && resume === undefined;
    return { kind: "run", options: { prompt, allowAll, cwd, resume, json, model, mode, isTransient } };
  } catch (error) {
    return invalid(`${firstSentence(messageOf(error))}. hermes --help lists the options. ${DASHES}`);
  }
}

const DASHES = 'A prompt that begins with "-" comes after "--".';

/** The parser's further sentences advise something else. */
function firstSentence(text: string): string {
  return text.split(/[.\n]/, 1)[0] ?? text;
}

function lettersOf(word: string): string {
  return [...word.toLowerCase()].sort((one, other) => (one < other ? -1 : 1)).join("");
}

function isOnly(word: string, words: readonly string[]): boolean {
  return words.length === 1 && words[0] === word;
}

/** `help` alone, or with a command before or after it. */
function asksForHelp(words: readonly string[]): boolean {
  const others = words.filter((word) => word !== "help");
  return (
    others.length < words.length &&
    words.length < 3 &&
    others.every((word) => Object.hasOwn({ ...VERBS, ...SLASH_COMMANDS }, word))
  );
}

/** A word that is nearly a command is not a prompt, which would cost a model call. */
function mistypedCommand([word = "", verb, ...rest]: readonly string[]): ParsedCommandLine | undefined {
  const [near] = nearestNames(word, Object.keys(VERBS), 1);
  // A word such as /skills is a slash command.
  if (near === undefined || near === word || rest.length > 2 || word.trimStart().startsWith("/")) return undefined;
  // Two swapped letters are two edits.
  const maximum = near.length > 4 || lettersOf(word) === lettersOf(near) ? 2 : 1;
  if (editDistance(word.toLowerCase(), near) > maximum) return undefined;
  if (verb !== undefined && VERBS[near]?.includes(verb) !== true) return undefined;
  const meant = ["hermes", near, verb, ...rest].filter((each) => each !== undefined).join(" ");
  return invalid(`there is no command "${word}". Did you mean \`${meant}\`? A prompt: hermes -- ${word}`);
}

const USE_MODEL = 'hermes model lists the models, and hermes --model NAME "prompt" uses one.';

const QUOTES = "Put a prompt into quotes.";

/** Problem of words after a command that it does not have: they are not a prompt, which would cost a model call. */
export function unknownVerb(command: string, verbs: readonly string[], words: readonly string[]): string {
  return `${command} has no command "${words.join(" ")}". Available: ${verbs.join(", ")}. ${QUOTES}`;
}

/** `hermes plugins …`, `hermes skills …` and a wrong `hermes mcp …`; undefined for a prompt. */
function managingLine(
  positionals: readonly string[],
  options: Pick<SkillsLine, "cwd" | "allowAll">,
): ParsedCommandLine | undefined {
  const [command, verb = "list", name = ""] = positionals;
  const words = positionals.slice(1);
  switch (command) {
    case "doctor":
      return words.length === 0 ? { kind: "doctor", cwd: options.cwd } : invalid(`doctor takes no argument. ${QUOTES}`);
    case "plugins":
      return pluginsLine(verb, name, words);
    case "skills":
      return skillsLine(words, verb, options);
    case "cron":
    case "learning":
      return invalid(`${command} comes before all options`);
    case "model":
      if (words.length === 1 && verb !== "list") return invalid(`${USE_MODEL} A prompt: hermes -- model ${verb}`);
      return undefined;
    case "mcp":
      return mcpCommandOf(positionals) === undefined ? invalid(unknownVerb(command, MCP_VERBS, words)) : undefined;
    default:
      return undefined;
  }
}

function pluginsLine(verb: string, name: string, words: readonly string[]): ParsedCommandLine {
  if (!isPluginVerb(verb) || words.length > 2) return invalid(unknownVerb("plugins", PLUGIN_VERBS, words));
  if (verb === "list" || name !== "") return { kind: "plugins", verb, name };
  return invalid(`plugins ${verb} needs a name; hermes plugins list shows the names`);
}

function skillsLine(
  words: readonly string[],
  verb: string,
  options: Pick<SkillsLine, "cwd" | "allowAll">,
): ParsedCommandLine {
  const [, name = ""] = words;
  if (verb === "search") return { kind: "skills", verb, operand: words.slice(1).join(" "), ...options };
  if (!isSkillVerb(verb) || words.length > 2) return invalid(unknownVerb("skills", SKILL_VERBS, words));
  const isComplete = verb === "list" || verb === "update" || name !== "";
  if (isComplete) return { kind: "skills", verb, operand: name, ...options };
  return invalid(`skills ${verb} needs a ${verb === "install" ? "source" : "name"}`);
}

function invalid(message: string): ParsedCommandLine {
  return { kind: "invalid", message };
}

const SKILL_VERBS: readonly SkillVerb[] = ["list", "search", "install", "update", "uninstall"];

function isSkillVerb(verb: string): verb is SkillVerb {
  return SKILL_VERBS.some((known) => known === verb);
}

const MCP_VERBS = ["list", "allow", "restart", "signin", "login", "signout", "logout", "enable", "disable"];
/** Server, and one of its tools. */
const MAX_MCP_WORDS = 4;

/** Commands, and those of each. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  doctor: [],
  plugins: PLUGIN_VERBS,
  skills: SKILL_VERBS,
  cron: ["list", "status", "tick", ...CRON_ACTIONS],
  learning: ["state", "run", "report", "forget"],
  mcp: MCP_VERBS,
};

/** Slash command for `hermes mcp …`; undefined for a prompt. `byDevice`: a sign-in with a code. */
function mcpCommandOf([command, verb = "list", ...rest]: readonly string[], byDevice = false): string | undefined {
  if (command !== "mcp" || !MCP_VERBS.includes(verb) || rest.length + 2 > MAX_MCP_WORDS) return undefined;
  const device = byDevice && (verb === "signin" || verb === "login") ? [DEVICE] : [];
  return ["/mcp", verb, ...rest, ...device, "--wait"].join(" ");
}

const HOOK_VERBS = ["list", "allow", "enable", "disable"];
/** Slash commands that are commands of the command line, too, with their verbs. */
const SLASH_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  hooks: HOOK_VERBS,
  tools: ["list"],
  memory: ["list"],
  model: ["list"],
};

/** `/hooks allow 1` for `hermes hooks allow 1`; undefined for a prompt. */
function slashCommandOf([command = "", verb = "list", ...rest]: readonly string[]): string | undefined {
  const verbs = SLASH_COMMANDS[command];
  if (verbs?.includes(verb) !== true) return undefined;
  if (verb === "list") return rest.length === 0 ? `/${command}` : undefined;
  return `/${command} ${[verb, ...rest].join(" ")}`;
}

/** Commands of similar agents; `help.ts` has what serves their purpose here. */
const ELSEWHERE = [
  "chat",
  "sessions",
  "import",
  "config",
  "setup",
  "login",
  "logout",
  "models",
  "status",
  "update",
  "acp",
  "gateway",
] as const;
export type CommandElsewhere = (typeof ELSEWHERE)[number];

const VERBS_ELSEWHERE = [
  ...["list", "show", "edit", "start", "stop", "status", "set", "get", "path", "check", "install", "export"],
  ...["delete", "rename", "prune", "stats", "browse", "migrate", "run", "enable", "disable", "test", "revoke", "reset"],
];
/** More words are a prompt. */
const MAX_WORDS_ELSEWHERE = 4;

/** A word that is a command elsewhere, alone or with one of its verbs, is not a prompt, which would cost a model call. */
function elsewhere(words: readonly string[]): ParsedCommandLine | undefined {
  const [word = "", verb = "list"] = words;
  if (words.length > MAX_WORDS_ELSEWHERE || !VERBS_ELSEWHERE.includes(verb)) return undefined;
  const ownVerbs = SLASH_COMMANDS[word];
  if (ownVerbs !== undefined && !ownVerbs.includes(verb)) return invalid(unknownVerb(word, ownVerbs, words.slice(1)));
  const command = ELSEWHERE.find((name) => name === word);
  return command && { kind: "elsewhere", command, words };
}

/** The agent's message, without the protocol's name of the parameter. */
export function ownWords(error: unknown): string {
  return (error instanceof RequestError ? messageWithCause(error) : messageOf(error)).replace(
    /^(?:value|modeId): /,
    "",
  );
}
