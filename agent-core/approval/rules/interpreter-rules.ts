/** Rules for interpreters and shells: shell code is read, and any other code asks, as do scripts. */
import {
  ask,
  askForCode,
  type Call,
  CHANGE,
  type CommandEffect,
  opaque,
  type Program,
  project,
  reads,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { ruleTable } from "./rule.ts";
import { scanCode } from "./scan-code.ts";

const PYTHON_MODULES =
  /^(?:pytest|unittest|tox|nox|mypy|ruff|black|isort|flake8|pylint|pyright|coverage|compileall|py_compile|json\.tool|build|venv|virtualenv|this|platform|site|sysconfig|tokenize|ast|calendar|zipapp|pre_commit|sphinx|mkdocs|django)$/;

function python(args: readonly Arg[]): readonly CommandEffect[] | undefined {
  const at = args.findIndex(({ text }) => text === "-m");
  if (at < 0 || args.slice(0, at).some(({ text }) => !/^-[BbdEIOqRsSuvx]+$|^-O+$|^-W/.test(text))) return undefined;
  const name = args[at + 1];
  const rest = args.slice(at + 2);
  if (!name || !isKnown(name)) return [opaque("Runs a Python module that is not known before it runs")];
  if (name.text === "pip" || name.text === "pip3") return [{ kind: "command", words: [knownArg("pip"), ...rest] }];
  if (name.text === "http.server") return [ask("Serves this folder to the network")];
  if (name.text === "venv" || name.text === "virtualenv") {
    const folders = rest.filter(({ text }) => !text.startsWith("-"));
    return [CHANGE, ...folders.map((path): CommandEffect => ({ kind: "write", path }))];
  }
  if (PYTHON_MODULES.test(name.text)) return [project(rest), ...readsSecrets(rest)];
  const asks = askForCode(`Runs the Python module ${name.text}`, "prefix");
  return [asks, ...readsSecrets(rest), ...rest.flatMap(({ text }) => scanCode(text))];
}

/** `node --test`, `node --check x`, `node --run script`. */
function node(name: string, args: readonly Arg[]): readonly CommandEffect[] | undefined {
  if (!/^node(?:js)?$/.test(name)) return undefined;
  const loads = args.some(({ text }) =>
    /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--inspect|--eval|-[ep]+|--print)/.test(text),
  );
  if (loads) return undefined;
  const [first] = args;
  const reporter = args.find(({ text }) => /^--test-reporter=(?!(?:spec|tap|dot|junit|lcov)$)/.test(text));
  if (reporter) return [askForCode(`Runs the code of ${shown(reporter)}`)];
  if (args.some(({ text }) => text === "--test")) return [project(args), ...readsSecrets(args)];
  if (first && /^(?:--check|-c)$/.test(first.text)) return reads(args.slice(1));
  if (first?.text === "--run") return packageRun(args[1], args.slice(2));
  return first?.text.startsWith("--run=") ? packageRun(afterPrefix(first, 6), args.slice(1)) : undefined;
}

function packageRun(name: Arg | undefined, rest: readonly Arg[]): readonly CommandEffect[] {
  if (!name || !isKnown(name)) return [opaque("Runs a script of the project that is not known before it runs")];
  const positional = rest.filter(({ text }) => text !== "--");
  return [{ kind: "script", source: { of: "package", name: name.text }, positional, otherwise: [project(rest)] }];
}

/** Options whose value is code. */
const CODE =
  /^(?:-[a-zA-Z\d]*(?:i\S*)?[ceE]|-[pB]|--(?:eval|print|execute|command|cmd)(?:=.*)?|-Command|-EncodedCommand|eval|-x)$/;
/** Options that load other code; of Python they only isolate it. */
const LOADS =
  /^(?:-[rMmIl]|-d.*|--(?:require|import|loader|env-file|inspect|openssl-config|experimental-(?:loader|config-file|default-config-file)).*)/;
const VERSION = /^(?:--version|-version|-v|-V+|--help|-h|--v8-options|--ini|version)$/;

/** The code, or the script, is not read: it asks, and what its texts name may escalate. */
const interpreter: Program = (call) => {
  const { name, args } = call;
  const line = `${name} ${args[0]?.text}`;
  if (args.length === 1 && VERSION.test(args[0]?.text ?? "")) return [];
  // These check the syntax of a file, or show settings.
  if (/^(?:ruby -[cl]|php -[lmi])$/.test(line)) return reads(args.slice(1));
  const isPython = /^(?:i?python|pypy|py$)/.test(name);
  const special = isPython ? python(args) : node(name, args);
  if (special) return special;
  const { own, code, script } = startOf(name, args);
  const effects = [
    ...own.filter(({ text }) => !isPython && LOADS.test(text)).map((arg) => loads(name, arg)),
    ...own.filter((arg) => !isKnown(arg)).map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which is not known`)),
    ...readsSecrets(args),
    ...args.filter(({ text }) => /[\s(;"']/.test(text) && !PRINTS.test(text)).flatMap(({ text }) => scanCode(text)),
  ];
  if (code !== undefined) return [...effects, ...codeEffects(call, code)];
  return script === undefined ? [...effects, ...inputEffects(call)] : [...effects, ...scriptEffects(call, script)];
};

/** Positions of the option with code, or of the script, and the options before it. */
function startOf(name: string, args: readonly Arg[]) {
  const isCode = ({ text }: Arg): boolean => CODE.test(text) || (name === "php" && /^-[rR]$/.test(text));
  const at = args.findIndex((arg) => isCode(arg) || !arg.text.startsWith("-") || arg.text === "-");
  const first = args[at];
  const own = at < 0 ? args : args.slice(0, at);
  if (first === undefined || first.text === "-") return { own, code: undefined, script: undefined };
  return isCode(first) ? { own, code: at, script: undefined } : { own, code: undefined, script: at };
}

function loads(name: string, arg: Arg): CommandEffect {
  return opaque(`Makes ${name} load other code (${shown(arg)})`);
}

/** The option at `at` has code in it, or in the next word. `perl -i` changes the files that follow the code. */
function codeEffects({ name, args }: Call, at: number): readonly CommandEffect[] {
  const option = args[at] ?? knownArg("");
  const equals = option.text.indexOf("=");
  const files = args.slice(equals < 0 ? at + 2 : at + 1).filter(({ text }) => !text.startsWith("-"));
  const inPlace = args.slice(0, at + 1).some(({ text }) => /^-\w*i/.test(text));
  const later = args.slice(at + 1).filter(({ text }) => LOADS.test(text));
  const code = equals < 0 ? (args[at + 1]?.text ?? UNKNOWN) : option.text.slice(equals + 1);
  return [
    ...(inPlace ? writes(files) : reads(files)),
    ...(/^py/.test(name) ? [] : later.map((arg) => loads(name, arg))),
    ...pieceOfCode(name, code),
  ];
}

/** Prints one text or number. */
const PRINTS = /^\s*(?:print|console\.log)\((?:(["'])[^"'\\]*\1|[\d\s+*/.-]*)\);?\s*$/;

function pieceOfCode(name: string, code: string): readonly CommandEffect[] {
  if (code.includes(UNKNOWN)) return [opaque(`Runs ${name} code that is not known before it runs`), ...scanCode(code)];
  return PRINTS.test(code) ? [] : [askForCode(`Runs a piece of ${name} code`), ...scanCode(code)];
}

function scriptEffects({ name, args }: Call, at: number): readonly CommandEffect[] {
  const script = args[at] ?? knownArg("");
  const rest = args.slice(at + 1);
  const own: CommandEffect = { kind: "program-file", file: script, words: rest };
  if (script.content?.includes(UNKNOWN)) return [opaque(`Runs what another command prints as ${name} code`)];
  if (script.content !== undefined) return [...pieceOfCode(name, script.content), own];
  if (!isKnown(script)) return [opaque(`Runs a ${name} script that is not known before it runs`), own];
  if (/^(?:https?|npm|jsr):/.test(script.text)) return [opaque(`Runs code from the network (${shown(script)})`)];
  return [askForCode(`Runs the ${name} script ${shown(script)}`), ...reads([script]), own];
}

function inputEffects({ name, input }: Call): readonly CommandEffect[] {
  if (input.kind === "text") return pieceOfCode(name, input.text);
  if (input.kind === "data") return [opaque(`Runs what ${input.from} prints as ${name} code`)];
  return [ask(`Starts an interactive ${name}`)];
}

/** deno has subcommands in front. */
const deno: Program = (call) => {
  const [first, ...rest] = call.args;
  if (first && /^(?:test|check|lint|fmt|doc|info|types|bench|task|coverage)$/.test(first.text)) return [project(rest)];
  return interpreter(first?.text === "run" ? { ...call, args: rest } : call);
};

const java: Program = ({ args }) => {
  if (args.length === 1 && /^--?(?:version|showversion|help)$/.test(args[0]?.text ?? "")) return [];
  return [askForCode(`Runs a Java program (${args.map(shown).join(" ")})`)];
};

export const interpreters: ReadonlyMap<string, Program> = ruleTable({
  "python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14": interpreter,
  "pypy pypy3 ipython py node nodejs ruby irb jruby perl perl5 php": interpreter,
  "lua luajit tclsh wish osascript R Rscript julia groovy scala kotlin elixir erl iex ghci runghc": interpreter,
  "racket guile sbcl swipl octave gnuplot pwsh powershell cmd tsx ts-node swift-repl jshell": interpreter,
  "vim vi nvim ex ed emacs nano gdb lldb expect": interpreter,
  deno,
  java,
});

type Start = {
  /** Position of the first word that is not an option. */
  readonly at: number;
  readonly code: boolean;
  readonly input: boolean;
  readonly effects: readonly CommandEffect[];
};

const shell: Program = (call) => {
  const { args, name } = call;
  if (args.length === 1 && args[0]?.text === "-V") return [];
  const start = readStart(name, args);
  const [first, ...rest] = args.slice(start.at);
  if (start.code) return [...start.effects, ...shellCode(name, first, rest)];
  const open = first?.text.startsWith(UNKNOWN) ? [opaque(`Runs ${name} with words that are not known`)] : [];
  const effects = [...start.effects, ...open];
  return first && !start.input ? [...effects, ...shellScript(name, first, rest)] : [...effects, ...shellInput(call)];
};

function readStart(name: string, args: readonly Arg[]): Start {
  const effects: CommandEffect[] = [];
  const letters: string[] = [];
  let at = 0;
  for (let text = args[0]?.text ?? ""; /^[-+]/.test(text); text = args[at]?.text ?? "") {
    at += 1;
    if (text === "--" || text === "-") break;
    if (/^--(?:rcfile|init-file)/.test(text)) effects.push(opaque(`Makes ${name} start with another script`));
    if (/^(?:--(?:rcfile|init-file)|[-+][oO])$/.test(text)) at += 1;
    else if (/^-[a-zA-Z]+$/.test(text)) letters.push(...text.slice(1));
    else if (text.includes(UNKNOWN))
      effects.push(opaque(`Runs ${name} with options that are not known before it runs`));
  }
  return { at, code: letters.includes("c"), input: letters.includes("s"), effects };
}

function shellCode(name: string, text: Arg | undefined, rest: readonly Arg[]): readonly CommandEffect[] {
  if (!text || text.splits) return [opaque(`Runs ${name} code that is not known before it runs`)];
  // The first word after the code is `$0`.
  const [zero, ...positional] = rest;
  const guess = text.guess === undefined ? [] : [{ kind: "shell", code: text.guess, escalateOnly: true } as const];
  return [{ kind: "shell", code: text.text, positional, ...(zero && { zero }) }, ...guess];
}

function shellScript(name: string, file: Arg, rest: readonly Arg[]): readonly CommandEffect[] {
  if (file.content !== undefined) return [{ kind: "shell", code: file.content }];
  if (!isKnown(file)) return [opaque(`Runs a ${name} script that is not known before it runs (${shown(file)})`)];
  const otherwise = [askForCode(`Runs the ${name} script ${shown(file)}`)];
  return [...reads([file]), { kind: "script", source: { of: "file", path: file }, positional: rest, otherwise }];
}

function shellInput({ name, input: given }: Call): readonly CommandEffect[] {
  if (given.kind === "text") return [{ kind: "shell", code: given.text }];
  if (given.kind === "data") return [opaque(`Runs what ${given.from} prints as shell commands`)];
  return [ask(`Starts an interactive ${name}`)];
}

/** busybox and toybox: the first word is the program. */
const busybox: Program = ({ args }) => {
  const [first] = args;
  if (!first || first.text.startsWith("-")) return [];
  return [{ kind: "command", words: args }];
};

export const shells: ReadonlyMap<string, Program> = ruleTable({
  "sh bash dash zsh ksh mksh ash fish rbash yash csh tcsh elvish nu xonsh rksh": shell,
  "busybox toybox": busybox,
});
