/** Rules for package managers: the project's own scripts and tools run, installing and publishing ask. */
import { ask, askForCode, CHANGE, type CommandEffect, opaque, type Program, project } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown } from "../shell/arg.ts";
import { buildTools } from "./build-rules.ts";
import { has, valuesOf } from "./options.ts";
import { programOf, type Rule, ruleTable } from "./rule.ts";

/** Names of scripts that reach beyond the project. */
const FAR_REACHING =
  /deploy|publish|release|push|upload|ship|prod(?:uction)?(?:$|[:._-])|destroy|drop|reset|nuke|wipe|migrat|seed|eject|purge|teardown|rollback|promote/i;

const READING =
  "ls list ll la outdated view info show explain why root prefix bin help search ping doctor docs fund licenses query find-dupes versions node workspaces";
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

type Verb = {
  readonly name: string;
  readonly verb: Arg;
  readonly target: Arg | undefined;
  readonly operands: readonly Arg[];
  readonly rest: readonly Arg[];
  readonly folder: Arg | undefined;
};

type VerbRule = (verb: Verb) => readonly CommandEffect[];

/** A verb with words of its own: these only look, the others do this. */
const looksWith =
  (looks: RegExp, does: string): VerbRule =>
  ({ target, rest }) =>
    looks.test(target?.text ?? "") ? [CHANGE, ...steering(rest)] : [ask(does)];
const runsScript: VerbRule = ({ name, target, rest, folder }) =>
  // Without a script of this name `npm run env` runs the words after it.
  target?.text === "env" && rest.at(-1) !== target
    ? [askForCode(`Runs ${name} run env with other words`, "never"), ...envWords(rest)]
    : script(`${name} run`, target, { rest: rest.slice(rest.indexOf(target ?? rest[0] ?? knownArg("")) + 1), folder });
function envWords(rest: readonly Arg[]): readonly CommandEffect[] {
  const words = rest.filter(({ text }) => text !== "--");
  return [{ kind: "shell", code: words.map(({ text }) => text).join(" "), escalateOnly: true }];
}
const runsOwn: VerbRule = ({ verb, rest, folder }) => {
  const name = /^t(?:e?st)?$/.test(verb.text) ? "test" : verb.text;
  return packageScript(name, rest, folder);
};
const runsTool: VerbRule = ({ rest }) => npxTool(rest.filter(({ text }) => text !== "--"));
const changesPackages: VerbRule = ({ name, operands, rest, folder }) => [
  ...steering(rest),
  ...(folder ? [ask(`Installs packages in ${shown(folder)}`)] : []),
  ...installs(name, operands),
];
const downloads: VerbRule = ({ target }) => [target ? opaque(`Downloads and runs ${shown(target)}`) : CHANGE];

/** Verbs of npm; yarn, pnpm and bun share them. */
const NPM_VERBS: ReadonlyMap<string, VerbRule> = new Map(
  (
    [
      ["test t tst start stop restart", runsOwn],
      ["run-tests pack", ({ rest }: Verb) => [project(rest)]],
      ["run run-script rum urn", runsScript],
      ["exec x", runsTool],
      ["version", looksWith(/^$/, "Sets the version of the project")],
      ["config c", looksWith(/^(?:get|list|ls|)$/, "Changes the settings of the package manager")],
      ["pkg", looksWith(/^get$/, "Changes package.json")],
      ["cache", looksWith(/^(?:verify|ls|list|dir)$/, "Empties the package cache")],
      [READING, ({ rest }: Verb) => [CHANGE, ...steering(rest)]],
      ["audit", (verb: Verb) => (verb.target?.text === "fix" ? changesPackages(verb) : [CHANGE])],
      ["install i in ins add ci clean-install install-test it cit update up upgrade uninstall remove", changesPackages],
      [
        "rm r un unlink link ln dedupe ddp prune rebuild rb import fetch approve-builds patch patch-commit",
        changesPackages,
      ],
      ["init create innit", downloads],
    ] as const
  ).flatMap(([names, rule]) => names.split(" ").map((name): [string, VerbRule] => [name, rule])),
);

/** Verbs of yarn and pnpm that npm has too or that reach beyond the project; any other word is a script. */
const RUNNER_VERBS = new Set(
  [
    "test t start stop restart run run-script ls list ll la outdated view info show explain why root prefix bin help",
    "search audit config c pack pkg cache install i add ci update up upgrade uninstall remove rm un unlink link ln dedupe",
    "prune rebuild rb import fetch publish unpublish deprecate owner login logout whoami adduser token access dist-tag",
    "team org profile set global plugin set-version npm store env setup server deploy patch patch-commit approve-builds",
    "version self-update licenses policies tag autoclean generate-lock-entry integrity upgrade-interactive",
  ].flatMap((line) => line.split(" ")),
);

function npmVerb(verb: Verb): readonly CommandEffect[] {
  const rule = NPM_VERBS.get(verb.verb.text);
  if (rule) return rule(verb);
  // The project's scripts prepare what is published.
  const prepares = verb.verb.text === "publish" ? [project(verb.rest)] : [];
  return [ask(`Runs ${verb.name} ${shown(verb.verb)}, which may reach beyond this project`, "prefix"), ...prepares];
}

const isVersion = (args: readonly Arg[]): boolean => /^-(?:v|-version|h|-help)$/.test(args[0]?.text ?? "");

const npm: Program = ({ name, args }) => {
  const { operands, effects, first, folder } = wordsOf(args);
  const [verb, target] = operands;
  if (!verb) return args.length === 0 || isVersion(args) ? effects : [...effects, CHANGE];
  return [...effects, ...npmVerb({ name, verb, target, operands, rest: args.slice(first + 1), folder })];
};

const scriptRunner: Program = ({ name, args }) => {
  const { operands, effects, first, folder } = wordsOf(args);
  const [verb, target] = operands;
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
  if (RUNNER_VERBS.has(verb.text)) return [...effects, ...npmVerb({ name, verb, target, operands, rest, folder })];
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

/** Options with which even a verb that looks reaches another interpreter or index. */
const OTHER_SOURCES = /^--(?:python|config-setting|index-url|extra-index-url)/;

/** A package manager of a language: verbs that look, and verbs whose rest is a command of the project. */
function manager(looks: string, runs = ""): Program {
  const [looking, running] = [new Set(looks.split(" ")), new Set(runs.split(" "))];
  return ({ name, args }) => {
    const at = args.findIndex(({ text }) => !text.startsWith("-"));
    const verb = args[at];
    if (!verb)
      return args.every(({ text }) => /^-(?:v|V|h|-version|-help)$/.test(text))
        ? []
        : [ask(`Runs ${name}, which may change packages`)];
    if (looking.has(verb.text) && !args.some(({ text }) => OTHER_SOURCES.test(text))) return [CHANGE];
    if (running.has(verb.text)) return runsRest(name, args.slice(at + 1));
    const words = args
      .slice(at, at + 3)
      .map(shown)
      .join(" ");
    return [ask(`Runs ${name} ${words}, which installs or changes packages`, "prefix")];
  };
}

function runsRest(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(
    ({ text }) => text !== "--" && !/^--(?:frozen|locked|no-sync|quiet|offline|isolated)$|^-q$/.test(text),
  );
  const rest = at < 0 ? [] : args.slice(at);
  const odd = rest[0]?.text.startsWith("-") ? rest[0] : undefined;
  const words = odd ? rest.slice(1) : rest;
  return [
    odd ? ask(`Runs ${name} run with ${shown(odd)}, an option that is not known`) : CHANGE,
    ...(words.length > 0 ? [{ kind: "command", words } as const] : []),
  ];
}

/** A package manager of the system: it changes the machine, but for these verbs. */
function system(looks: string): Rule {
  const looking = new Set(looks.split(" "));
  return {
    open: true,
    short: "o:c:",
    effects: ({ name, args }, options) => {
      const verbs = args.filter(({ text }) => !text.startsWith("-"));
      // Some settings are hooks: shell commands.
      const hooks = valuesOf(options, "o", "option").flatMap(({ text }): CommandEffect[] => {
        const code = /(?:Pre|Post)-Invoke(?:-\w+)?(?:::)?=(.*)$/i.exec(text)?.[1];
        const runs = opaque(`Makes ${name} run ${code ?? ""}`);
        return code === undefined ? [] : [runs, { kind: "shell", code, escalateOnly: true }];
      });
      const looksOnly = verbs[0] && looking.has(verbs[0].text) && !has(options, "o", "c", "option", "config-file");
      if (looksOnly) return [CHANGE];
      const words = verbs.slice(0, 3).map(shown).join(" ");
      return [
        ask(`Runs ${name} ${words}, which changes the software of this machine`, "prefix"),
        ...runsFiles(name, args),
        ...hooks,
      ];
    },
  };
}

/** A file that is installed, settings that are a file, and a hook: its code leaves the sandbox with the package manager. */
function runsFiles(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const file = args.find(
    ({ text }) => /[/\s(]|^\.$|^-c|\.(?:deb|rpm|apk|snap|flatpak|rb|nupkg|msi)$/.test(text) && !/^https?:/.test(text),
  );
  return file === undefined ? [] : [askForCode(`Runs ${name} with ${shown(file)}, whose code may run`)];
}

/** A package manager whose verbs are letters: it reads when its first word and all other options match. */
const letters =
  (looks: RegExp, more = /^$/): Program =>
  ({ name, args }) => {
    const [first, ...others] = args;
    const odd = others.find(({ text }) => text.startsWith("-") && !looks.test(text) && !more.test(text));
    if (!looks.test(first?.text ?? ""))
      return [ask(`Runs ${name}, which changes the software of this machine`, "prefix"), ...runsFiles(name, args)];
    return odd === undefined ? [] : [askForCode(`Runs ${name} with ${shown(odd)}, an option that is not known`)];
  };

const pipVerbs = manager("list show freeze check help index config debug inspect hash");
const pip: Rule = {
  open: true,
  options: { "log= target= prefix= root=": "write", "r: requirement= path= cert= client-cert= c: constraint=": "read" },
  effects: (call, { operands: [verb, action] }) =>
    verb?.text === "config" && !/^(?:list|get|debug)$/.test(action?.text ?? "")
      ? [ask("Changes pip's settings")]
      : pipVerbs(call),
};

const pipx = manager("list environment");
const uvVerbs = manager("help lock version tree", "run");
const uvPip = programOf(pip);
const uv: Program = (call) => {
  const [first, ...rest] = call.args;
  if (first?.text === "pip") return uvPip({ ...call, name: "uv pip", args: rest });
  if (first?.text === "tool" && rest[0]?.text === "list") return [];
  return uvVerbs(call);
};

/** Version managers: switching is for this shell only. */
const versions: Program = ({ name, args }) => {
  const [verb, ...rest] = args;
  const looks =
    /^(?:ls|list|current|which|version|versions|--version|where|use|doctor|root|prefix|alias|env|activate|info)$/;
  if (!verb || looks.test(verb.text)) return [CHANGE];
  if (verb.text === "exec" || verb.text === "run") {
    const words = rest.filter(({ text }) => text !== "--");
    return [CHANGE, { kind: "command", words: isKnown(words[0] ?? knownArg("")) ? words : [] }];
  }
  return [ask(`Runs ${name} ${shown(verb)}, which installs or changes software`, "prefix")];
};

export const packageManagers: ReadonlyMap<string, Program> = ruleTable({
  "pip pip3": pip,
  uv,
  uvx: ({ args }) => [
    ask(`Downloads and runs ${args[0] ? shown(args[0]) : "a package"}`, "prefix"),
    { kind: "command", words: args },
  ],
  pipx: (call) => [...pipx(call), ...runsFiles(call.name, call.args)],
  poetry: manager("show check env version about search config", "run"),
  pdm: manager("list info show outdated", "run"),
  pipenv: manager("graph check verify", "run"),
  hatch: manager("status version build test fmt", "run"),
  rye: manager("show list test lint fmt version", "run"),
  conda: manager("list info search env"),
  mamba: manager("list info search"),
  gem: manager("list search info which environment env contents outdated specification help"),
  "bundle bundler": manager("list show info check outdated version help doctor", "exec"),
  composer: manager(
    "show validate outdated licenses diagnose why depends check-platform-reqs test dump-autoload about status audit",
  ),
  luarocks: manager("list show search which lint test"),
  cpan: manager(""),
  nuget: manager("list locals search"),
  opam: manager("list show info env var search", "exec"),
  brew: system("list ls info search outdated deps leaves config doctor home desc uses cat log"),
  apt: system("list show search policy depends rdepends"),
  "apt-get": system("check changelog"),
  "apt-cache": system("show search policy depends rdepends madison pkgnames stats"),
  yum: system("list info search provides repolist deplist check-update"),
  dnf: system("list info search provides repolist repoquery check-update"),
  zypper: system("search se info if list-updates lu repos lr"),
  apk: system("info search list policy version"),
  snap: system("list info find version"),
  flatpak: system("list info search remotes"),
  port: system("list info search installed outdated"),
  pkg: system("info search query version"),
  nix: system("eval search show-config why-depends path-info"),
  winget: system("list search show"),
  choco: system("list search info outdated"),
  dpkg: letters(
    /^(?:-[lLsSpIcC]|--(?:list|listfiles|status|search|print-avail|get-selections|info|contents|audit|compare-versions|print-architecture))$/,
  ),
  "dpkg-query": letters(/^(?:-[lLsSWf]|--(?:list|listfiles|status|search|show|showformat)).*$/),
  rpm: letters(
    /^(?:-q\w*|--(?:query|version))$/,
    /^(?:-[acdfgilpRsv]+|--(?:all|file|list|info|changes|changelog|requires|provides|conflicts|obsoletes|what\w+|last|qf|queryformat|docfiles|configfiles|state|package|(?:qf|queryformat)=[^(]*))$/,
  ),
  pacman: letters(/^(?:-Q\w*|-Ss|-Si|-F\w*)$/),
  "nvm fnm volta asdf mise pyenv rbenv nodenv goenv jenv sdk rvm n direnv": versions,
});
