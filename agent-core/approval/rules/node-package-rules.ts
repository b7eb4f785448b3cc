/** Rules for npm, yarn, pnpm and bun: the project's own scripts and tools run, installing and publishing ask. */
import { ask, askForCode, CHANGE, type CommandEffect, opaque, type Program, project } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown } from "../shell/arg.ts";
import { buildTools } from "./build-rules.ts";
import { ruleTable } from "./rule.ts";
import { mayRun } from "./wrapper-rules.ts";

/** Names of scripts that reach beyond the project. */
const FAR_REACHING =
  /deploy|publish|release|push|upload|ship|prod(?:uction)?(?:$|[:._-])|destroy|drop|reset|nuke|wipe|migrat|seed|eject|purge|teardown|rollback|promote/i;

const WITH_VALUE =
  /^(?:--prefix|--workspace|-w|--cwd|-C|--dir|--filter|-F|--loglevel|--registry|--cache|--userconfig|--tag|-c|--call|--package|-p|--script-shell|--node-options)$/;
/** Options that change which code runs. */
const STEERING =
  /^--(?:script-shell|node-options|userconfig|globalconfig|registry|prefix=\/|init-module|git|shell|viewer|editor|call|require)|^-c$/;

type Words = {
  readonly operands: readonly Arg[];
  readonly effects: readonly CommandEffect[];
  readonly first: number;
  /** Folder of the package. */
  readonly folder: Arg | undefined;
};

function steering(args: readonly Arg[]): readonly CommandEffect[] {
  const options = args.filter(({ text }) => STEERING.test(text));
  return options.map((arg) => opaque(`Makes the package manager run other code (${shown(arg)})`));
}

/** The operands up to `--`, without options and their values: the words after a script's name are the script's own. */
function wordsOf(args: readonly Arg[]): Words {
  const end = args.findIndex(({ text }) => text === "--");
  const own = end < 0 ? args : args.slice(0, end);
  const isOperand = ({ text }: Arg, at: number) => !(text.startsWith("-") || WITH_VALUE.test(own[at - 1]?.text ?? ""));
  const operands = own.filter(isOperand);
  const first = own.findIndex(isOperand);
  const before = first < 0 ? own : own.slice(0, first);
  return { operands, effects: steering(before), first: first < 0 ? args.length : first, folder: folderOf(own) };
}

function folderOf(args: readonly Arg[]): Arg | undefined {
  const at = args.findLastIndex(({ text }) => /^(?:--prefix|--cwd|--dir|-C)(?:$|=)/.test(text));
  const option = args[at];
  if (!option) return undefined;
  const equals = option.text.indexOf("=");
  return equals < 0 ? args[at + 1] : afterPrefix(option, equals + 1);
}

/** Runs a script of the package; a folder given with `--prefix` or `-C` is the package's. */
function packageScript(name: string, rest: readonly Arg[], folder: Arg | undefined): readonly CommandEffect[] {
  const positional = rest.filter(({ text }) => text !== "--");
  const source = { of: "package", name, ...(folder && { folder }) } as const;
  // The package manager keeps logs and caches, whatever the script does.
  return [CHANGE, { kind: "script", source, positional, otherwise: [project(rest)] }];
}

function script(
  name: string,
  arg: Arg | undefined,
  { rest = [], folder }: { readonly rest?: readonly Arg[]; readonly folder?: Arg | undefined } = {},
): readonly CommandEffect[] {
  if (!arg) return [];
  if (!isKnown(arg)) return [opaque("Runs a script of the project that is not known before it runs")];
  const runs = packageScript(arg.text, rest, folder);
  return FAR_REACHING.test(arg.text)
    ? [ask(`Runs the script ${shown(arg)} (${name}), which may reach beyond this project`, "prefix"), ...runs]
    : runs;
}

function installs(name: string, operands: readonly Arg[]): readonly CommandEffect[] {
  const what = operands.slice(1, 5).map(shown).join(" ") || "the project's packages";
  return [ask(`Installs or changes packages (${what}) with ${name}, whose scripts may run`, "prefix")];
}

type Verb = Words & { readonly name: string; readonly verb: Arg; readonly rest: readonly Arg[] };

/** Kinds of verbs of npm, which yarn, pnpm and bun share, and those of the two that npm does not have. */
const VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    own: "test t tst start stop restart",
    script: "run run-script rum urn",
    project: "run-tests pack",
    tool: "exec x",
    looks:
      "ls list ll la outdated view info show explain why root prefix bin help search ping doctor docs fund licenses query find-dupes versions node workspaces",
    looksWith: "version config c pkg cache audit",
    installs:
      "install i in ins add ci clean-install install-test it cit update up upgrade uninstall remove rm r un unlink link ln dedupe ddp prune rebuild rb import fetch approve-builds patch patch-commit",
    downloads: "init create innit",
    // Any other word is a script of yarn and pnpm.
    far: "publish unpublish deprecate owner login logout whoami adduser token access dist-tag team org profile set global plugin set-version npm store env setup server deploy self-update policies tag autoclean generate-lock-entry integrity upgrade-interactive",
  }).flatMap(([kind, names]) => names.split(" ").map((name): [string, string] => [name, kind])),
);
/** These only look with such a word behind them. */
const LOOKS_WITH =
  /^(?:version|(?:config|c) (?:get|list|ls)|config|c|pkg get|cache (?:verify|ls|list|dir)|audit(?: (?!fix).*)?)$/;

const KINDS: Readonly<Record<string, (verb: Verb) => readonly CommandEffect[]>> = {
  own: ({ verb, rest, folder }) => packageScript(/^t(?:e?st)?$/.test(verb.text) ? "test" : verb.text, rest, folder),
  script: ({ name, rest, operands: [, target], folder }) =>
    // Without a script of this name `npm run env` runs the words after it.
    target?.text === "env" && rest.at(-1) !== target
      ? [askForCode(`Runs ${name} run env with other words`, "never"), ...mayRun(rest)]
      : script(`${name} run`, target, { rest: target ? rest.slice(rest.indexOf(target) + 1) : [], folder }),
  project: ({ rest }) => [project(rest)],
  tool: ({ rest }) => npxTool(rest.filter(({ text }) => text !== "--")),
  looks: ({ rest }) => [CHANGE, ...steering(rest)],
  looksWith: ({ name, rest, operands }) => {
    const line = operands.slice(0, 2).map(shown).join(" ");
    return LOOKS_WITH.test(line)
      ? [CHANGE, ...steering(rest)]
      : [ask(`Runs ${name} ${line}, which changes settings or packages`)];
  },
  installs: ({ name, rest, operands, folder }) => [
    ...steering(rest),
    ...(folder ? [ask(`Installs packages in ${shown(folder)}`)] : []),
    ...installs(name, operands),
  ],
  downloads: ({ operands: [, target] }) => [target ? opaque(`Downloads and runs ${shown(target)}`) : CHANGE],
};

function verbEffects(call: Verb): readonly CommandEffect[] {
  const { name, verb, rest } = call;
  const effects = KINDS[VERBS.get(verb.text) ?? ""]?.(call);
  if (effects) return effects;
  // The project's scripts prepare what is published.
  const prepares = verb.text === "publish" ? [project(rest)] : [];
  return [ask(`Runs ${name} ${shown(verb)}, which may reach beyond this project`, "prefix"), ...prepares];
}

/** Verbs whose own rules read no option. */
const READS_ALL = /^(?:own|script|project)$/;

const isVersion = (args: readonly Arg[]): boolean => /^-(?:v|-version|h|-help)$/.test(args[0]?.text ?? "");

const npm: Program = ({ name, args }) => {
  const words = wordsOf(args);
  const { operands, effects, first } = words;
  const [verb] = operands;
  if (!verb) return args.length === 0 || isVersion(args) ? effects : [...effects, CHANGE];
  const end = args.findIndex(({ text }) => text === "--");
  // Unlike the others, npm takes the options behind a script's name for its own, up to `--`.
  const own = READS_ALL.test(VERBS.get(verb.text) ?? "")
    ? steering(args.slice(first + 1, end < 0 ? undefined : end))
    : [];
  return [...effects, ...own, ...verbEffects({ ...words, name, verb, rest: args.slice(first + 1) })];
};

const scriptRunner: Program = ({ name, args }) => {
  const words = wordsOf(args);
  const { operands, effects, first, folder } = words;
  const [verb] = operands;
  if (!verb) return isVersion(args) ? effects : installs(name, []);
  const rest = args.slice(first + 1);
  switch (verb.text) {
    case "dlx":
    case "create":
    case "init":
      return [opaque(`Downloads and runs ${rest.slice(0, 2).map(shown).join(" ")}`)];
    case "exec":
    case "x":
      return [...effects, ...npxTool(rest)];
    case "workspace":
      return [...effects, { kind: "command", words: [knownArg(name), ...rest.slice(1)] }];
    case "workspaces":
    case "recursive":
    case "foreach":
      return [...effects, ask(`Runs ${name} ${shown(verb)} in every package`, "prefix")];
    case "node":
      return [{ kind: "command", words: [knownArg("node"), ...rest] }];
  }
  if (VERBS.has(verb.text)) return [...effects, ...verbEffects({ ...words, name, verb, rest })];
  if (buildTools.has(verb.text)) return [...effects, ...npxTool([verb, ...rest])];
  return [...effects, ...script(name, verb, { rest, folder })];
};

const bun: Program = (call) => {
  const { args } = call;
  const [verb, ...rest] = args;
  if (!verb) return [];
  if (verb.text === "test" || verb.text === "build") return [project(rest)];
  if (verb.text === "x") return npxTool(rest);
  if (verb.text === "run") {
    const target = rest.find(({ text }) => !text.startsWith("-"));
    return target && /[./]/.test(target.text)
      ? [ask(`Runs the script ${shown(target)} with bun`)]
      : script("bun run", target, { rest: rest.slice(rest.indexOf(target ?? verb) + 1) });
  }
  if (/^-(?:e|p)$|^--(?:eval|print)/.test(verb.text)) return [{ kind: "command", words: [knownArg("node"), ...args] }];
  if (/[./]/.test(verb.text)) return [ask(`Runs the script ${shown(verb)} with bun`)];
  return scriptRunner(call);
};

const HARMLESS_NPX = /^(?:--no-install|--no|-y|--yes|-q|--quiet|--prefer-offline|--offline|--bun|--silent|-s)$/;

/** Runs a tool of the project; a package that is not known may be downloaded first. */
function npxTool(args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(({ text }) => !HARMLESS_NPX.test(text));
  const tool = args[at];
  if (!tool) return [];
  const rest = args.slice(at + 1);
  if (tool.text.startsWith("-")) {
    const code = rest.find((_, index) => /^(?:-c|--call)$/.test(args[at + index]?.text ?? ""));
    const raised = code ? [{ kind: "shell", code: code.text, escalateOnly: true } as const] : [];
    return [opaque(`Runs a package with ${shown(tool)}, an option that is not known`), ...raised];
  }
  if (!isKnown(tool)) return [opaque("Runs a package that is not known before it runs")];
  // The version behind the name chooses no other program.
  const named = { ...tool, text: tool.text.replace(/(?<=.)@[^/@]*$/, "") };
  const runs: CommandEffect = { kind: "command", words: [named, ...rest] };
  if (buildTools.has(tool.text)) return [project([]), runs];
  return [ask(`Runs the package ${shown(tool)}, which may be downloaded first`, "prefix"), runs];
}

const npx: Program = ({ args }) => npxTool(args);

export const nodePackages: ReadonlyMap<string, Program> = ruleTable({
  npm,
  "pnpm yarn": scriptRunner,
  bun,
  "npx pnpx bunx": npx,
  corepack: ({ args }) =>
    args[0] && /^(?:pnpm|yarn|npm)$/.test(args[0].text)
      ? [{ kind: "command", words: args }]
      : [ask("Changes the package managers of this machine", "prefix")],
});
