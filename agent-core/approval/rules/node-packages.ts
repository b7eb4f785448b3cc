/** npm, yarn, pnpm, bun and npx: the project's own scripts and tools run, installing and publishing ask. */
import { ask, CHANGE, type CommandEffect, opaque, type Program } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { buildTools } from "./build-tools.ts";

/** Names of scripts that reach beyond the project. */
export const FAR_REACHING =
  /deploy|publish|release|push|upload|ship|prod(?:uction)?(?:$|[:._-])|destroy|drop|reset|nuke|wipe|migrat|seed|eject|purge|teardown|rollback|promote/i;

const READING =
  /^(?:ls|list|ll|la|outdated|view|info|show|explain|why|root|prefix|bin|help|search|ping|doctor|docs|fund|licenses|query|find-dupes|version|versions|node|workspaces)$/;
const WITH_VALUE =
  /^(?:--prefix|--workspace|-w|--cwd|-C|--dir|--filter|-F|--loglevel|--registry|--cache|--userconfig|--tag|-c|--call|--package|-p|--script-shell|--node-options)$/;
/** Options that change which code runs. */
const STEERING =
  /^--(?:script-shell|node-options|userconfig|globalconfig|registry|prefix=\/|init-module|git|shell|viewer|editor|call|require)|^-c$/;

type Words = { readonly operands: readonly Arg[]; readonly effects: readonly CommandEffect[]; readonly first: number };

/** The operands up to `--`, without options and their values. What follows a script's name is the script's own. */
function wordsOf(args: readonly Arg[]): Words {
  const end = args.findIndex(({ text }) => text === "--");
  const own = end < 0 ? args : args.slice(0, end);
  const isOperand = ({ text }: Arg, at: number) => !(text.startsWith("-") || WITH_VALUE.test(own[at - 1]?.text ?? ""));
  const operands = own.filter(isOperand);
  const first = own.findIndex(isOperand);
  const before = first < 0 ? own : own.slice(0, first);
  const effects = before
    .filter(({ text }) => STEERING.test(text))
    .map((arg) => opaque(`Steers the package manager with ${shown(arg)}`));
  return { operands, effects, first: first < 0 ? args.length : first };
}

function script(name: string, arg: Arg | undefined): readonly CommandEffect[] {
  if (!arg) return [];
  if (!isKnown(arg)) return [opaque("Runs a script of the project that is not known before it runs")];
  return FAR_REACHING.test(arg.text)
    ? [ask(`Runs the script ${shown(arg)} (${name}), which may reach beyond this project`, "prefix")]
    : [CHANGE];
}

function installs(name: string, operands: readonly Arg[]): readonly CommandEffect[] {
  const what = operands.slice(1, 5).map(shown).join(" ") || "the project's packages";
  return [ask(`Installs or changes packages (${what}) with ${name}, whose scripts may run`, "prefix")];
}

const npm: Program = ({ name, args }) => {
  const { operands, effects, first } = wordsOf(args);
  const [verb, target] = operands;
  if (!verb)
    return args.length === 0 || /^-(?:v|-version|h|-help)$/.test(args[0]?.text ?? "") ? effects : [...effects, CHANGE];
  return [...effects, ...npmVerb(name, verb, { target, operands, rest: args.slice(first + 1) })];
};

type Rest = { readonly target: Arg | undefined; readonly operands: readonly Arg[]; readonly rest: readonly Arg[] };

const INSTALLING =
  /^(?:install|i|in|ins|add|ci|clean-install|install-test|it|cit|update|up|upgrade|uninstall|remove|rm|r|un|unlink|link|ln|dedupe|ddp|prune|rebuild|rb|import|fetch|approve-builds|patch|patch-commit)$/;
const TESTING = /^(?:test|t|tst|start|stop|restart|run-tests|pack)$/;

/** Commands with words of their own: those that only look, and what the others do. */
const SUBCOMMANDS: readonly (readonly [verb: RegExp, looks: RegExp, does: string])[] = [
  [/^version$/, /^$/, "Sets the version of the project"],
  [/^(?:config|c)$/, /^(?:get|list|ls|)$/, "Changes the settings of the package manager"],
  [/^pkg$/, /^get$/, "Changes package.json"],
  [/^cache$/, /^(?:verify|ls|list|dir)$/, "Empties the package cache"],
];

function npmVerb(name: string, verb: Arg, { target, operands, rest }: Rest): readonly CommandEffect[] {
  const word = verb.text;
  if (TESTING.test(word)) return [CHANGE];
  if (/^(?:run|run-script|rum|urn)$/.test(word)) return script(`${name} run`, target);
  if (/^(?:exec|x)$/.test(word)) return npxTool(rest.filter(({ text }) => text !== "--"));
  const subcommand = SUBCOMMANDS.find(([known]) => known.test(word));
  if (subcommand) return subcommand[1].test(target?.text ?? "") ? [CHANGE] : [ask(subcommand[2])];
  if (READING.test(word) || (word === "audit" && target?.text !== "fix")) return [CHANGE];
  if (INSTALLING.test(word) || word === "audit") return installs(name, operands);
  if (/^(?:init|create|innit)$/.test(word)) return [target ? opaque(`Downloads and runs ${shown(target)}`) : CHANGE];
  return [ask(`Runs ${name} ${shown(verb)}, which may reach beyond this project`, "prefix")];
}

/** A word that is no command of yarn's or pnpm's is a script of the project. */
const scriptRunner: Program = ({ name, args }) => {
  const { operands, effects, first } = wordsOf(args);
  const [verb, target] = operands;
  if (!verb) return /^-(?:v|-version|h|-help)$/.test(args[0]?.text ?? "") ? effects : installs(name, []);
  const rest = args.slice(first + 1);
  if (/^(?:dlx|create|init)$/.test(verb.text))
    return [opaque(`Downloads and runs ${rest.slice(0, 2).map(shown).join(" ")}`)];
  if (/^(?:exec|x)$/.test(verb.text)) return [...effects, ...npxTool(rest)];
  if (verb.text === "workspace") return [...effects, { kind: "command", words: [knownArg(name), ...rest.slice(1)] }];
  if (/^(?:workspaces|-r|recursive|foreach)$/.test(verb.text))
    return [...effects, ask(`Runs ${name} ${shown(verb)} in every package`, "prefix")];
  if (NPM_VERBS.test(verb.text)) return [...effects, ...npmVerb(name, verb, { target, operands, rest })];
  if (/^(?:node)$/.test(verb.text)) return [{ kind: "command", words: [knownArg("node"), ...rest] }];
  if (buildTools.has(verb.text)) return [...effects, ...npxTool([verb, ...rest])];
  return [...effects, ...script(name, verb)];
};

const NPM_VERBS =
  /^(?:test|t|start|stop|restart|run|run-script|ls|list|ll|la|outdated|view|info|show|explain|why|root|prefix|bin|help|search|audit|config|c|pack|pkg|cache|install|i|add|ci|update|up|upgrade|uninstall|remove|rm|un|unlink|link|ln|dedupe|prune|rebuild|rb|import|fetch|publish|unpublish|deprecate|owner|login|logout|whoami|adduser|token|access|dist-tag|team|org|profile|set|global|plugin|set-version|npm|store|env|setup|server|deploy|patch|patch-commit|approve-builds|version|self-update|licenses|policies|tag|autoclean|generate-lock-entry|integrity|upgrade-interactive)$/;

const bun: Program = (call) => {
  const { args } = call;
  const [verb, ...rest] = args;
  if (!verb) return [];
  if (verb.text === "test" || verb.text === "build") return [CHANGE];
  if (verb.text === "x") return npxTool(rest);
  if (verb.text === "run") {
    const target = rest.find(({ text }) => !text.startsWith("-"));
    return target && /[./]/.test(target.text)
      ? [ask(`Runs the script ${shown(target)} with bun`)]
      : script("bun run", target);
  }
  if (/^-(?:e|p)$|^--(?:eval|print)/.test(verb.text)) return [{ kind: "command", words: [knownArg("node"), ...args] }];
  if (/[./]/.test(verb.text)) return [ask(`Runs the script ${shown(verb)} with bun`)];
  return scriptRunner(call);
};

/** Runs a tool of the project; one that is not known here may be downloaded first. */
export function npxTool(args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(
    ({ text }) =>
      !/^(?:--no-install|--no|-y|--yes|-q|--quiet|--prefer-offline|--offline|--bun|--silent|-s)$/.test(text),
  );
  const tool = args[at];
  if (!tool) return [];
  const rest = args.slice(at + 1);
  const code = rest.find((_, index) => /^(?:-c|--call)$/.test(args[at + index]?.text ?? ""));
  if (tool.text.startsWith("-")) {
    return [
      opaque(`Runs a package with ${shown(tool)}`),
      ...(code ? [{ kind: "shell", code: code.text, raises: true } as const] : []),
    ];
  }
  if (!isKnown(tool)) return [opaque("Runs a package that is not known before it runs")];
  if (buildTools.has(tool.text)) return [{ kind: "command", words: [tool, ...rest] }];
  return [
    ask(`Runs the package ${shown(tool)}, which may be downloaded first`, "prefix"),
    { kind: "command", words: [tool, ...rest] },
  ];
}

export const nodePackages: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["npm", npm],
  ["pnpm", scriptRunner],
  ["yarn", scriptRunner],
  ["bun", bun],
  ["npx", ({ args }) => npxTool(args)],
  ["pnpx", ({ args }) => npxTool(args)],
  ["bunx", ({ args }) => npxTool(args)],
  [
    "corepack",
    ({ args }) =>
      args[0] && /^(?:pnpm|yarn|npm)$/.test(args[0].text)
        ? [{ kind: "command", words: args }]
        : [ask("Changes the package managers of this machine", "prefix")],
  ],
]);
