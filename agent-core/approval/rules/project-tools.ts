/** Tools and package managers, one row each: they run code of the project unasked, and ask to install, publish or leave it. */
import {
  ask,
  askForCode,
  type Call,
  CHANGE,
  type CommandEffect,
  NETWORK,
  OUTSIDE,
  opaque,
  type Program,
  project,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { byLine, lineOf, ruleTable } from "./rule.ts";

/** Options that hand a tool code, a program, a plugin or settings from the command line. */
const STEERING =
  /^--?(?:on[A-Z-]\w*|raw-command|eval|exec|exec-prefix|wrapper|fplugin\S*|fuse-ld|specs\S*|toolexec|vettool|overlay|gccgoflags|modfile|use-program|load-plugins|plugin-dir|rulesdir|init-hook|ld-path|(?:global-setup|require|preset|rootDir|prefix)=\/\S*|script-shell|node-options|userconfig|globalconfig|registry|init-module|shell|viewer|editor|call|python|config-setting|index-url|extra-index-url|config-file|option)(?:$|=)|^-(?:fplugin|specs|toolexec|vettool|ldflags=.*-extld)/;

/** An option whose name is not known to its end. Before a capital letter of a compiler it is a value. */
const HALF_KNOWN = /^-[^=A-Z]*\0/;

/** Verbs and targets that reach beyond the project. */
const FAR =
  /^(?:publish|deploy|release|upload|login|logout|push|install|uninstall|add|remove|exec|dependency:get|cloud|connect|link|telemetry|generate:key|init)$|deploy|publish|releas|upload|destroy|drop|prod(?:uction)?(?:$|[:._-])|migrat|seed|eject|purge|teardown|rollback|promote|nuke|wipe|reset|ship/i;

const leaves = (name: string, verb: string): readonly CommandEffect[] => [
  ask(`Runs ${name} ${shown(verb)}, which may reach beyond this project`, "prefix"),
  NETWORK,
];

function steering(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const odd = args.filter(
    (arg) => STEERING.test(arg.text) || HALF_KNOWN.test(arg.text) || (arg.splits && arg.text === UNKNOWN),
  );
  return odd.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which can make it run other code`));
}

/** A tool that runs code or settings of the project. */
export const tool: Program = ({ name, args }) => [project(args), ...steering(name, args)];

/** A task runner: some tasks reach beyond the project. */
const tasks: Program = (call) => {
  // Plugins of Maven that the project need not name, and its runner of programs.
  const plugin = call.name.startsWith("mvn") ? /^(?:[\w-]+\.[\w.-]+:[\w.-]+:|exec:exec)/ : /^(?!)/;
  const far = call.args.find(({ text }) => !text.startsWith("-") && (FAR.test(text) || plugin.test(text)));
  return far ? [...tool(call), ...leaves(call.name, far.text)] : tool(call);
};

const compiler: Program = (call) => {
  const isOutput = (at: number) => /^-(?:o|MF|dumpdir|dumpbase)$/.test(call.args[at]?.text ?? "");
  const args = call.args.filter(({ text }, at) => isOutput(at - 1) || !/^-[IL]|^\//.test(text));
  const other = call.args.find(({ text }) => /^(?:@|-B)/.test(text));
  return [
    ...(other ? [opaque(`Runs ${call.name} with ${shown(other)}, which brings options or programs`)] : []),
    ...tool({ ...call, args }),
  ];
};

/** Verbs that by convention test a project, or look at it. To build may push, and a version may be raised. */
const VERB = /^(?:tests?|check|lint|fmt|typecheck|bench|validate|status|help|log|diff|history|routes)$/;

/** True for a verb alone. Another word may be a place, a host or what an unknown program starts. */
export function isConventional({ name, args: [verb, ...rest], input }: Call): boolean {
  return VERB.test(verb?.text ?? "") && rest.length === 0 && input.kind === "none" && !FAR.test(name);
}

const OWN_RULES = /(?:^| )(?:-\w*[EI]|--ev|--inc)/;
const FROM_INPUT = /(?:^| )(?:-\w*f|--(?:make)?file=?) ?(?:-|\/dev\/\S*)(?: |$)/;

/** The makefile is not read: the first target asks, and a lasting answer holds until the makefile changes. */
const make: Program = ({ name, args, input }) => {
  const line = lineOf(args);
  const far = args.find(({ text }) => !/^-|=/.test(text) && FAR.test(text));
  const isOwn = OWN_RULES.test(line) || (input.kind === "data" && FROM_INPUT.test(line));
  const runs = isOwn
    ? opaque(`Runs ${name} with rules of its words or its input (${args.map(shown).join(" ")})`)
    : askForCode(`Runs ${name}, whose rules are not read`, "prefix");
  return [CHANGE, project(args), runs, ...(far ? leaves(name, far.text) : [])];
};

const CMAKE_RUNS = /(?:^| )(?:-E|-P|-C|--install|-DCMAKE_\w*(?:COMPILER|LAUNCHER|PROGRAM|COMMAND|TOOLCHAIN)\w*)/;
const cmake = byLine([CMAKE_RUNS, askForCode("Runs {line}, which chooses what it runs")], [/^/, tool]);

type Manager = {
  /** First words whose rest is a command of the project. */
  readonly runs?: string;
  /** The manager works beyond the project: for the whole machine, or in an account. */
  readonly system?: true;
  /** A line that makes a known verb run other code. */
  readonly odd?: RegExp;
};

const GLOBAL_OPTION = /^(?:-g|--global|--user|--location=global)$/;
const ACCOUNT = /^(?:publish|unpublish|login|logout|adduser|token|access|owner|deprecate|dist-tag|yank)$/;
/** The project's code prepares what is published; a package in a file brings code of its own. */
const BRINGS_CODE = /^(?:publish|deploy)$|^\.{0,2}\/|\.(?:deb|rpm|apk|snap|flatpak|rb|nupkg|msi|whl|tgz)$/;

/** With the first words `own` it looks, or runs code of the project; any other one installs or leaves it. */
function manager(own: string, { runs = "", system, odd = /^(?!)/ }: Manager = {}): Program {
  const [working, running] = [own, runs].map((words) => new Set(words.split(" ")));
  return ({ name, args }) => {
    const at = args.findIndex(({ text }) => !/^[-+]/.test(text));
    const verb = args[at]?.text ?? args[0]?.text ?? "";
    const end = args.findIndex(({ text }) => text === "--");
    const before = end < 0 ? args : args.slice(0, end);
    if (at < 0 && args.every(({ text }) => /^-(?:v|V|h|-version|-help)$/.test(text))) return [];
    if (odd.test(before.map(({ text }) => text).join(" ")))
      return [opaque(`Runs ${name} with words that can make it run other programs`)];
    // An option may name the file of a log; `/p:a=b` is a property of MSBuild.
    const files = args.filter(({ text }) => !/^\/[pv]:/.test(text));
    if (working?.has(verb)) return [project(files), ...steering(name, before)];
    if (running?.has(verb)) return [CHANGE, ...steering(name, before), ...restOf(name, args.slice(at + 1))];
    return installs({ name, args }, system === true || ACCOUNT.test(verb));
  };
}

function installs({ name, args }: Pick<Call, "name" | "args">, isOutside: boolean): readonly CommandEffect[] {
  const code = args.find(({ text }) => BRINGS_CODE.test(text));
  const line = [name, ...args.slice(0, 4).map(shown)].join(" ");
  return [
    ask(`Runs ${line}, which installs or changes packages, whose scripts may run`, "prefix"),
    ...steering(name, args),
    ...(code ? [askForCode(`Runs ${name} with ${shown(code)}, whose code may run`)] : []),
    isOutside || args.some(({ text }) => GLOBAL_OPTION.test(text)) ? OUTSIDE : NETWORK,
  ];
}

const QUIET =
  /^(?:--|-q|-y|-s|--(?:frozen|locked|no-sync|quiet|offline|isolated|no-install|no|yes|prefer-offline|bun|silent))$/;

/** The command after the options that change nothing. Another option may choose what runs. */
function restOf(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(({ text }) => !QUIET.test(text));
  const [first, ...rest] = at < 0 ? [] : args.slice(at);
  if (first === undefined) return [];
  if (first.text.startsWith("-")) return [opaque(`Runs ${name} with ${shown(first)}, an option that is not known`)];
  return [{ kind: "command", words: [first, ...rest] }];
}

const FOLDER = /^(?:--(?:prefix|cwd|dir)|-C)(?:=|$)/;
const WITH_VALUE = /^(?:--(?:prefix|workspace|cwd|dir|filter|loglevel|cache|tag|package)|-[wCFp])$/;
const LOOKING =
  "ls list ll la outdated view info show explain why root prefix bin help search ping doctor docs fund licenses query versions node workspaces audit -v --version";
const LOOKS = new Set(LOOKING.split(" "));
/** Lines with these first words only look; any other one with this first word changes settings. */
const SETTINGS = /^(?:version$|(?:config|c)(?:$| (?:get|list|ls))|pkg get|cache (?:verify|ls|list|dir))\b/;
const OTHERS =
  "install i in ins add ci it cit update up upgrade uninstall remove rm r un unlink link ln dedupe prune rebuild import publish unpublish login logout whoami init create exec x dlx config c pkg cache owner version deprecate token access dist-tag set plugin store env setup deploy patch global npm";
const KNOWN = new Set([...LOOKS, ...OTHERS.split(" ")]);

/** npm, pnpm, yarn and bun: the project's scripts are read, and run as they are. */
const scripts: Program = (call) => {
  const { name, args } = call;
  const end = args.findIndex(({ text }) => text === "--");
  const own = end < 0 ? args : args.slice(0, end);
  const isOperand = ({ text }: Arg, at: number) => !(text.startsWith("-") || WITH_VALUE.test(own[at - 1]?.text ?? ""));
  const at = own.findIndex(isOperand);
  const verb = own[at];
  if (verb === undefined) return name === "yarn" && args.length === 0 ? installs(call, false) : steering(name, own);
  return [...steering(name, own), ...verbEffects(call, verb, { rest: args.slice(at + 1), folder: folderOf(own) })];
};

function verbEffects(call: Call, verb: Arg, { rest, folder }: ScriptCall): readonly CommandEffect[] {
  const { name } = call;
  const line = [verb, ...rest].map(({ text }) => text).join(" ");
  // `yarn npm audit`, `yarn global list`
  if (/^(?:npm|global)$/.test(verb.text) && LOOKS.has(rest[0]?.text ?? "")) return [CHANGE];
  if (SETTINGS.test(line) || (LOOKS.has(verb.text) && !/^audit fix/.test(line))) return [CHANGE];
  if (/^npm (?:exec|x)$|^bun x$/.test(`${name} ${verb.text}`)) return npx({ ...call, args: rest });
  if (/^(?:exec|x)$/.test(verb.text)) return [CHANGE, ...restOf(name, rest)];
  if (/^(?:run|run-script|rum|urn)$/.test(verb.text)) {
    const at = rest.findIndex(({ text }) => !text.startsWith("-"));
    // Without a script of this name it runs the words after it.
    if (rest[at]?.text === "env" && at < rest.length - 1) return [opaque(`Runs ${name} run env with other words`)];
    return script(name, rest[at], { rest: rest.slice(at + 1), folder });
  }
  const isScript = /^(?:test|tst|t|start|stop|restart)$/.test(verb.text) || (name !== "npm" && !KNOWN.has(verb.text));
  return isScript ? script(name, verb, { rest, folder }) : installs(call, ACCOUNT.test(verb.text));
}

function folderOf(args: readonly Arg[]): Arg | undefined {
  const at = args.findLastIndex(({ text }) => FOLDER.test(text));
  const option = args[at];
  const equals = option?.text.indexOf("=") ?? -1;
  return option && (equals < 0 ? args[at + 1] : afterPrefix(option, equals + 1));
}

type ScriptCall = { readonly rest: readonly Arg[]; readonly folder?: Arg | undefined };

/** A script of the package: it is read. The package manager keeps logs and caches, whatever the script does. */
export function script(name: string, arg: Arg | undefined, { rest, folder }: ScriptCall): readonly CommandEffect[] {
  if (!arg || !isKnown(arg))
    return arg ? [opaque("Runs a script of the project that is not known before it runs")] : [];
  const positional = rest.filter(({ text }) => text !== "--");
  const short = /^(?:t|tst)$/.test(arg.text) ? "test" : arg.text;
  const source = { of: "package", name: short, ...(folder && { folder }) } as const;
  const far = FAR.test(arg.text)
    ? [ask(`Runs the script ${shown(arg)} (${name}), which may reach beyond this project`, "prefix"), NETWORK]
    : [];
  return [CHANGE, ...far, { kind: "script", source, positional, otherwise: [project(rest)] }];
}

/** The program of a package. One whose version is given may not be the one that is installed. */
function npx({ args }: Call): readonly CommandEffect[] {
  const [runs] = restOf("npx", args);
  if (runs?.kind !== "command") return runs ? [runs] : [];
  const [first = knownArg(""), ...rest] = runs.words;
  if (!isKnown(first)) return [opaque("Runs a package that is not known before it runs")];
  const name = first.text.replace(/(?<=.)@[^/@]*$/, "");
  const words = [{ ...first, text: name }, ...rest];
  return name === first.text ? [{ kind: "command", words, own: "installed" }] : downloads(name, words);
}

/** Runs a program of a package that is not installed. In the sandbox a tool of projects fails without the network. */
export function downloads(name: string, words: readonly Arg[]): readonly CommandEffect[] {
  const reason = `Runs the package ${shown(name)}, which may be downloaded first`;
  const asks = projectTools.has(name) ? [askForCode(reason, "prefix")] : [ask(reason, "prefix"), NETWORK];
  return [...asks, { kind: "command", words }];
}

const PIP = "list show freeze check help index debug inspect hash";
const pip = manager(`${PIP} config`, { odd: /^config (?!list|get|debug)/ });

export const projectTools: ReadonlyMap<string, Program> = ruleTable({
  "tsc tsgo black autopep8 isort yapf rustfmt gofmt goimports gofumpt clang-format shellcheck shfmt": tool,
  "yamllint actionlint hadolint taplo nixfmt buf vue-tsc svelte-check tsd tsup tsdown vitest jest mocha ava tap": tool,
  "karma cypress playwright eslint oxlint prettier biome stylelint standard xo tslint dprint knip depcruise": tool,
  "madge size-limit markdownlint cspell commitlint htmlhint jshint lint-staged webpack vite rollup esbuild parcel":
    tool,
  "swc babel astro next nuxt gatsby remix storybook ng react-scripts tailwindcss postcss sass typedoc": tool,
  "pytest py.test tox nox mypy pyright basedpyright ruff flake8 pylint pycodestyle bandit coverage vulture": tool,
  "sphinx-build mkdocs behave rspec rubocop standardrb phpcs phpcbf cucumber phpunit pest phpstan psalm": tool,
  "php-cs-fixer pint ctest cppcheck clang-tidy golangci-lint staticcheck gotestsum ktlint detekt scalafmt": tool,
  "pandoc hugo dot mmdc jekyll doxygen swiftlint swiftformat stylua luacheck hlint sqlfluff ansible-lint tflint vale codespell":
    tool,
  "javac kotlinc scalac rustc ghc nim zigcc nasm protoc bison flex gcc g++ cc c++ clang clang++ gfortran": compiler,
  "gradle gradlew mvn mvnw mvnd ant sbt lein bazel bazelisk turbo nx lerna rush moon grunt gulp rake invoke": tasks,
  "ninja samu meson xcodebuild vue-cli-service": tasks,
  "terraform tofu": manager("validate fmt version show output providers graph plan test", { system: true }),
  "pre-commit tauri expo prisma": manager(
    "run validate-config help dev build info start lint doctor validate generate",
  ),
  rustup: manager("show which check doc"),
  dotnet: manager("build test run restore clean format --info --list-sdks --list-runtimes list msbuild watch"),
  swift: manager("build test run package", {
    odd: /^package (?:.* )?(?:plugin|edit|config)(?: |$)|--package-path[ =](?:[~/]|\S*\.\.)/,
  }),
  mix: manager("test compile format credo dialyzer help phx.routes deps"),
  "flutter dart": manager("test build analyze doctor clean run devices format fix compile doc info"),
  zig: manager("build test fmt version env build-exe build-lib run targets"),
  "stack cabal dune": byLine(
    [/^exec (?:-\S* )*\w[\w./-]*\.(?:exe|bc)(?: |$)/, tool],
    [/^/, manager("build test check run repl bench haddock path ghc runtest fmt clean", { runs: "exec" })],
  ),
  go: manager("build test vet fmt list version doc help clean fix work run mod env generate tool", {
    odd: /(?:^| )--?(?:exec|toolexec|vettool|overlay|gccgoflags|modfile|ldflags[= ].*-extld)|^env .*-[wu]\b|^run \S*@|^(?:mod|work) (?:edit|use) (?:.*-(?:replace|toolchain|use)\b|(?:.*[ =])?(?:[~/\0]|\S*\.\.))/,
  }),
  cargo: manager(
    "build b check c test t nextest clippy fmt doc d bench tree metadata version run r clean help search locate-project pkgid fix llvm-cov expand deny machete udeps outdated audit miri",
    { odd: /(?:^| )(?:--config|-Z)/ },
  ),
  "make gmake": make,
  cmake,
});

/** A manager of the whole machine: other lines than these install, and packages bring code. */
const lists = (line: RegExp): Program =>
  byLine([line, []], [/^/, ({ name, args }) => installs({ name, args: [knownArg("./package"), ...args] }, true)]);

export const packageManagers: ReadonlyMap<string, Program> = ruleTable({
  "npm pnpm yarn bun": scripts,
  "npx pnpx bunx": npx,
  "pip pip3": pip,
  uv: byLine(
    [/^pip /, (call) => pip({ ...call, name: "uv pip", args: call.args.slice(1) })],
    [/^/, manager("help lock version tree", { runs: "run" })],
  ),
  "poetry pdm pipenv hatch rye": manager(
    "show check version about search list info outdated graph verify status build test fmt lint",
    { runs: "run" },
  ),
  "conda mamba gem": manager("list info search which environment contents outdated specification help"),
  "bundle bundler": manager("list show info check outdated version help doctor", { runs: "exec" }),
  composer: manager(
    "show validate outdated licenses diagnose why depends check-platform-reqs about status audit test dump-autoload",
  ),
  "brew apt apt-get apt-cache yum dnf zypper apk snap flatpak port pkg nix winget choco pipx": manager(
    "list ls info search outdated deps leaves doctor home desc uses cat log show policy depends rdepends madison",
    { system: true },
  ),
  "dpkg dpkg-query": lists(/^(?:-[lLsSW]|--(?:list|listfiles|status|search|show|version))(?: (?!-[-A-Z])\S+)*$/),
  "rpm pacman": lists(/^(?:-q[ailpfcd]*|-Q\w*|-S[si]|--(?:query|version))(?: (?!-[-A-Z])\S+)*$/),
  "uvx corepack nvm fnm volta asdf mise pyenv rbenv sdk rvm direnv": manager(
    "ls current version versions where doctor",
  ),
});
