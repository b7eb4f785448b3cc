/** Rules for interpreters and shells: their code is read for what it runs and writes, their scripts ask. */
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
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { ruleTable } from "./rule.ts";
import { scanCode } from "./scan-code.ts";

type Interpreter = {
  /** Options that take code. */
  readonly code: RegExp;
  /** Options that take a value which is not a file to run. */
  readonly value: RegExp;
  /** Options that load or run something else. */
  readonly loads: RegExp;
  /** Words with which a call only prints its version or help. */
  readonly prints: RegExp;
  /** Effects of a module or an option that belongs to the project's own work. */
  readonly module?: (args: readonly Arg[]) => readonly CommandEffect[] | undefined;
};

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
function node(args: readonly Arg[]): readonly CommandEffect[] | undefined {
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

const PYTHON: Interpreter = {
  code: /^-[BbdEIOqRsSuvx]*c$/,
  value: /^-[WX]$/,
  loads: /^$/,
  prints: /^(?:--version|-V+|--help|-h)$/,
  module: python,
};
const NODE: Interpreter = {
  code: /^(?:-[pe]+|--eval|--print|--eval=.*|--print=.*|-[pe]{1,2})$/,
  value: /^(?:-C|--conditions|--input-type|--title)$/,
  loads:
    /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--inspect|--experimental-config-file|--openssl-config|--experimental-default-config-file)/,
  prints: /^(?:--version|-v|--help|-h|--v8-options)$/,
  module: node,
};
const RUBY: Interpreter = {
  code: /^-[acdlnpswW\d]*e$/,
  value: /^-[FEKx]$/,
  loads: /^-[rI]/,
  prints: /^(?:--version|-v|--help|-h)$/,
};
const PERL: Interpreter = {
  code: /^-[acdlnpstTuUwWX\d]*(?:i\S*)?[eE]$/,
  value: /^-[CD]$/,
  loads: /^-[MmI]/,
  prints: /^(?:--version|-v|-V|--help|-h)$/,
};
const PHP: Interpreter = {
  code: /^-[rBRE]$/,
  value: /^-[ctz]$/,
  loads: /^-d/,
  prints: /^(?:--version|-v|-m|-i|--help|-h|--ini)$/,
};
const OTHER: Interpreter = {
  code: /^(?:-e|-c|--eval|--execute|-Command|-EncodedCommand|-E|--command|--cmd|eval|-x)$/i,
  value: /^$/,
  loads: /^-[lr]/,
  prints: /^(?:--version|-v|-V|-version|--help|-h|version)$/,
};

function run(call: Call, interpreter: Interpreter): readonly CommandEffect[] {
  const { args, name } = call;
  if (args.length === 1 && interpreter.prints.test(args[0]?.text ?? "")) return [];
  // Ruby, perl and PHP check the syntax of a file without running it; perl runs its BEGIN blocks.
  if (/^(?:ruby|php)$/.test(name) && /^-[cl]$/.test(args[0]?.text ?? "")) return reads(args.slice(1));
  const special = interpreter.module?.(args);
  if (special) return special;
  const at = args.findIndex(({ text }) => interpreter.code.test(text) || !text.startsWith("-"));
  const first = args[at];
  // Some interpreters read options after the code, too.
  const own =
    first && interpreter.code.test(first.text)
      ? args.filter((_, index) => index !== at + 1)
      : args.slice(0, at < 0 ? undefined : at);
  const loaded = own.filter(({ text }) => interpreter.loads.test(text));
  const effects: CommandEffect[] = [
    ...loaded.map((arg) => opaque(`Makes ${name} load other code (${shown(arg)})`)),
    ...readsSecrets(args),
  ];
  const changed = filesInPlace(call, at);
  // `-c'code'` in one word.
  const attached = args.filter(({ text }) => /^-\w*[ceEr].*[\s(;"']/.test(text) && !text.startsWith("--"));
  effects.push(
    ...attached.flatMap(({ text }) => [askForCode(`Runs a piece of ${name} code`, "never"), ...scanCode(text)]),
  );
  if (first && interpreter.code.test(first.text))
    return [...effects, ...changed, ...reads(filesAfter(args, at)), ...codeEffects(call, at)];
  if (first && first.text !== "-")
    return [
      ...effects,
      ...scriptEffects(name, first),
      ...readsSecrets(args.slice(at + 1)),
      { kind: "program-file", file: first, words: args.slice(at + 1) },
    ];
  return [...effects, ...inputEffects(call)];
}

/** Words after the code: with `-n` a program reads these files, and others get them as arguments. */
function filesAfter(args: readonly Arg[], at: number): readonly Arg[] {
  return args.slice(args[at]?.text.includes("=") ? at + 1 : at + 2).filter(({ text }) => !text.startsWith("-"));
}

/** `perl -i` and `ruby -i` change the files that follow the code. */
function filesInPlace({ args }: Call, at: number): readonly CommandEffect[] {
  if (at < 0 || !args.slice(0, at + 1).some(({ text }) => /^-\w*i/.test(text))) return [];
  return args.slice(at + 2).map((path) => ({ kind: "write", path }));
}

function codeEffects({ name, args }: Call, at: number): readonly CommandEffect[] {
  const option = args[at]?.text ?? "";
  const attached = option.startsWith("--") && option.includes("=") ? option.slice(option.indexOf("=") + 1) : undefined;
  const code = attached ?? args[at + 1]?.text ?? UNKNOWN;
  return oneLiner(name, code);
}

/** Prints one text or number. */
const PRINTS = /^\s*(?:print|console\.log)\((?:(["'])[^"'\\]*\1|[\d\s+*/.-]*)\);?\s*$/;

function oneLiner(name: string, code: string): readonly CommandEffect[] {
  if (code.includes(UNKNOWN)) return [opaque(`Runs ${name} code that is not known before it runs`), ...scanCode(code)];
  return PRINTS.test(code) ? [] : [askForCode(`Runs a piece of ${name} code`), ...scanCode(code)];
}

function scriptEffects(name: string, script: Arg): readonly CommandEffect[] {
  if (script.content?.includes(UNKNOWN)) return [opaque(`Runs what another command prints as ${name} code`)];
  if (script.content !== undefined) return oneLiner(name, script.content);
  if (!isKnown(script)) return [opaque(`Runs a ${name} script that is not known before it runs`)];
  if (/^(?:https?|npm|jsr):/.test(script.text)) return [opaque(`Runs code from the network (${shown(script)})`)];
  return [askForCode(`Runs the ${name} script ${shown(script)}`), ...reads([script])];
}

function inputEffects({ name, input }: Call): readonly CommandEffect[] {
  if (input.kind === "text") return oneLiner(name, input.text);
  if (input.kind === "data") return [opaque(`Runs what ${input.from} prints as ${name} code`)];
  return [ask(`Starts an interactive ${name}`)];
}

function program(interpreter: Interpreter): Program {
  return (call) => run(call, interpreter);
}

/** deno and bun have subcommands in front. */
const deno: Program = (call) => {
  const [first, ...rest] = call.args;
  if (first && /^(?:test|check|lint|fmt|doc|info|types|bench|task|coverage)$/.test(first.text)) return [project(rest)];
  if (first?.text === "run" || first?.text === "eval")
    return run({ ...call, args: first.text === "eval" ? call.args : rest }, OTHER);
  return run(call, OTHER);
};

const java: Program = ({ args }) => {
  if (args.length === 1 && /^--?(?:version|showversion|help)$/.test(args[0]?.text ?? "")) return [];
  return [askForCode(`Runs a Java program (${args.map(shown).join(" ")})`)];
};

export const interpreters: ReadonlyMap<string, Program> = ruleTable({
  "python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14": program(PYTHON),
  "pypy pypy3 ipython py": program(PYTHON),
  "node nodejs": program(NODE),
  "ruby irb jruby": program(RUBY),
  "perl perl5": program(PERL),
  php: program(PHP),
  "lua luajit tclsh wish osascript R Rscript julia groovy scala kotlin elixir erl iex ghci runghc": program(OTHER),
  "racket guile sbcl swipl octave gnuplot pwsh powershell cmd tsx ts-node swift-repl jshell": program(OTHER),
  "vim vi nvim ex ed emacs nano gdb lldb expect": program(OTHER),
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
