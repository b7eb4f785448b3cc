/** Built-in commands of the shell: they change it, run code in it, or evaluate their arguments. */
import { tmpdir } from "node:os";
import type { TestExpression } from "unbash";
import { ask, askAlways, askForCode, type Call, type Input, opaque, reads } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, TOKEN, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { assignText, forgetVariables, setVariable } from "./assignments.ts";
import { evaluateText, expandValue } from "./expand-word.ts";
import { foldersOf, runEffects, runShell } from "./run-effects.ts";
import { enterFolders, forkState, type Output, type Setting, variable, type Walk } from "./shell-state.ts";

type Builtin = (call: Call, setting: Setting, walk: Walk) => Output;

export const declarations: ReadonlySet<string> = new Set(["declare", "typeset", "export", "readonly", "local"]);

/** Built-ins that keep the assignment in front of them in some shells. */
export const persistent: ReadonlySet<string> = new Set(
  ": . break continue eval exec exit export readonly return set shift source times trap unset".split(" "),
);

const READS_OTHERWISE = "Changes how the shell reads what follows";

/** Operators of `[[ … ]]`, `[` and `test` that evaluate their operands as arithmetic. */
const ARITHMETIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

const declare: Builtin = ({ args }, setting, walk) => {
  for (const { text } of args) {
    if (/^[-+]\w*n/.test(text))
      walk.record.add(askAlways("Makes a variable a reference to another one, which may not be known"));
    if (/^-\w*f/.test(text)) walk.record.add(ask("Exports shell functions to other programs"));
  }
  const names = args.filter(({ text }) => !/^[-+]/.test(text));
  // Numbers, and letters in another case.
  if (args.some(({ text }) => /^-\w*[iluc]/.test(text))) {
    setting.state.integers = new Set([
      ...setting.state.integers,
      ...names.map(({ text }) => text.replace(/\W.*$/s, "")),
    ]);
  }
  for (const name of names) assignText(name, setting, walk);
  return "";
};

const evaluate: Builtin = ({ args }, setting, walk) => {
  const code = args.map((arg) => (arg.glob && /^\W*$/.test(arg.text) ? UNKNOWN : arg.text)).join(" ");
  return runShell({ kind: "shell", code, here: true }, setting, walk) ?? UNKNOWN;
};

const cd: Builtin = ({ args }, { state }) => {
  const target = args.find(({ text }) => !/^-[LPe@]+$|^--$/.test(text)) ?? variable(state, "HOME")[0] ?? UNKNOWN_ARG;
  const exact = isKnown(target) && !target.glob && target.text !== "-" && !/^[+-]\d/.test(target.text);
  const folders = exact ? foldersOf(target.text, state) : undefined;
  // CDPATH could lead a plain name elsewhere; setting it asks.
  enterFolders(state, folders);
  return "";
};

/** Without a folder, `pushd` exchanges the two folders on top of the stack. */
const pushd: Builtin = (call, setting, walk) =>
  call.args.some(({ text }) => !/^[-+]/.test(text)) ? cd(call, setting, walk) : popd(call, setting, walk);

const popd: Builtin = (_, { state }) => {
  enterFolders(state, undefined);
  return UNKNOWN;
};

const source: Builtin = ({ args }, setting, walk) => {
  const [file] = args;
  if (file?.content !== undefined)
    return runShell({ kind: "shell", code: file.content, here: true }, setting, walk) ?? UNKNOWN;
  if (file && /(?:^|\/)\.?\w*env[\w.-]*\/(?:bin|Scripts)\/activate$/.test(file.text) && !file.text.includes("..")) {
    walk.record.markProject();
    return "";
  }
  runEffects(reads(args.slice(0, 1)), setting, walk);
  if (file && isKnown(file) && !file.glob) {
    const otherwise = [askForCode(`Runs the script ${shown(file)} in this shell`)];
    runEffects([{ kind: "script", source: { of: "file", path: file }, here: true, otherwise }], setting, walk);
  } else walk.record.add(opaque("Runs a script in this shell that is not known before it runs"));
  for (const name of setting.state.variables.keys()) setting.state.variables.set(name, [UNKNOWN_ARG]);
  setting.state.cwds = undefined;
  return UNKNOWN;
};

/** `command`, `builtin` and `exec` run their operands in this shell. */
const runRest: Builtin = ({ name, args }, setting, walk) => {
  let rest = args;
  while (rest[0] && /^-[\w-]*$/.test(rest[0].text)) {
    const [option] = rest;
    if (name === "command" && /^-[vV]+$/.test(option.text)) return UNKNOWN;
    rest = rest.slice(name === "exec" && option.text === "-a" ? 2 : 1);
    if (option.text === "--") break;
  }
  if (rest.length === 0) return "";
  const functions = new Map(setting.state.functions);
  const [first] = rest;
  // `command` and `builtin` skip functions of that name.
  if (first && name !== "exec") setting.state.functions.delete(first.text);
  const output = walk.record.nested(() => walk.command(rest, setting));
  setting.state.functions = functions;
  return output;
};

/** Some shells expand an alias in scripts, others run the program of that name: both count. */
const alias: Builtin = ({ args }, setting, walk) => {
  for (const { text } of args) {
    const [, name, code = ""] = /^([\w.-]+)=(.*)$/s.exec(text) ?? [];
    const own = code.split(/\s/, 1)[0] === name ? `command ${code}` : code;
    if (name !== undefined) walk.code(`${name}() { ${own} "$@"; command ${name} "$@"; }`, setting);
  }
  if (args.some(({ text }) => text.includes(UNKNOWN)))
    walk.record.add(askAlways("Makes an alias that is not known before it runs"));
  return UNKNOWN;
};

const trap: Builtin = ({ args }, setting, walk) => {
  const [action, ...signals] = args.filter(({ text }) => text !== "--");
  if (!action || signals.length === 0 || /^-|^$|^\d+$/.test(action.text)) return UNKNOWN;
  runShell({ kind: "shell", code: action.text, here: true }, { ...setting, state: forkState(setting.state) }, walk);
  // The action may print at the end of the script.
  return UNKNOWN;
};

const set: Builtin = ({ args }, { state }, walk) => {
  if (args.some(({ text }) => /^\+\w*B|^braceexpand$/.test(text))) walk.record.add(askAlways(READS_OTHERWISE));
  const dashes = args.findIndex(({ text }) => text === "--");
  const first = dashes >= 0 ? dashes + 1 : args.findIndex(({ text }) => !/^[-+]/.test(text));
  const takesName = args.slice(0, Math.max(first, 0)).some(({ text }) => /^[-+]\w*o$/.test(text));
  if (first >= 0 && !takesName) state.positional = args.slice(first);
  return args.length === 0 ? UNKNOWN : "";
};

const shift: Builtin = (_, { state }) => {
  state.positional = undefined;
  return "";
};

/** Options of these built-ins whose value is a text: a prompt, a delimiter. */
const BEFORE_VALUE = /^-\w*[dip]$/;

/** `read`, `mapfile`, `getopts` and `wait -p` set the variables that they name. */
const sets: Builtin = ({ name, args }, setting, walk) => {
  if (args.some(({ text }) => /^-\w*C/.test(text))) walk.record.add(askAlways("Runs code for lines of its input"));
  const isName = ({ text }: Arg, at: number) => {
    const option = args[at - 1]?.text ?? "";
    return name === "wait" ? /^-\w*p$/.test(option) : /^[A-Za-z_\0]/.test(text) && !BEFORE_VALUE.test(option);
  };
  const standard = name === "wait" ? [] : ["REPLY", "MAPFILE", "OPTARG"].map(knownArg);
  forgetVariables([...args.filter(isName), ...standard], setting, walk);
  return "";
};

const printf: Builtin = (call, setting, walk) => {
  const [option, name, ...rest] = call.args;
  if (option?.text !== "-v" || !name) return knownOutput(call);
  const text = knownOutput({ ...call, args: rest });
  if (!isKnown(name) || !/^\w+$/.test(name.text)) forgetVariables([name], setting, walk);
  else setVariable(name.text, [text === UNKNOWN ? UNKNOWN_ARG : knownArg(text)], setting, walk);
  return "";
};

const unset: Builtin = ({ args }, setting, walk) => {
  const names = args.filter(({ text }) => !text.startsWith("-"));
  for (const name of names) {
    if (name.text === "IFS") walk.record.add(ask("Changes how the shell splits words"));
    if (name.text.includes("[") || name.text.includes(UNKNOWN)) evaluateText(name.text, setting, walk);
    setting.state.variables.set(name.text, [knownArg("")]);
    setting.state.functions.delete(name.text);
  }
  return "";
};

const calculate: Builtin = ({ args }, setting, walk) => {
  for (const { text } of args) {
    evaluateText(text, setting, walk);
    const [name] = /^[A-Za-z_]\w*/.exec(text) ?? [];
    if (name !== undefined) setting.state.variables.set(name, [UNKNOWN_ARG]);
  }
  return "";
};

/** `-v` and `-R` evaluate a subscript, and other shells than bash each integer. */
const test: Builtin = ({ args }, setting, walk) => {
  const named = args.filter((_, at) => /^-[vR]$/.test(args[at - 1]?.text ?? ""));
  const integers = args.some(({ text }) => ARITHMETIC.has(text)) ? args.filter(isKnown) : [];
  for (const { text } of [...named, ...integers]) if (/[[\0`$]/.test(text)) evaluateText(text, setting, walk);
  return "";
};

function unless(option: RegExp, reason: string): Builtin {
  return (call, _, walk) => {
    if (call.args.some(({ text }) => option.test(text))) walk.record.add(askAlways(reason));
    return knownOutput(call);
  };
}

const named = (names: string, builtin: Builtin) => names.split(" ").map((name) => [name, builtin] as const);

export const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ...named(": true false pwd dirs type times umask ulimit jobs bg fg disown break continue return exit", knownOutput),
  ...named("logout suspend caller help echo unalias", knownOutput),
  ...named([...declarations].join(" "), declare),
  ...named("cd chdir", cd),
  ...named("source .", source),
  ...named("command builtin exec", runRest),
  ...named("read mapfile readarray wait getopts", sets),
  ...named("test [", test),
  ["eval", evaluate],
  ["pushd", pushd],
  ["popd", popd],
  ["alias", alias],
  ["trap", trap],
  ["set", set],
  ["shift", shift],
  ["printf", printf],
  ["unset", unset],
  ["let", calculate],
  ["hash", unless(/^-\w*p/, "Makes a command name run another program")],
  ["history", unless(/^-\w*[wanr]/, "Reads or writes a file of the shell's history")],
  ["shopt", unless(/^(?:dotglob|nocaseglob|lastpipe|expand_aliases|extquote|compat\d+)$/, READS_OTHERWISE)],
  ["enable", unless(/^-\w*[fn]/, "Loads or switches off built-in commands of the shell")],
  ...named("complete compgen", unless(/^-\w*[CFW]/, "Makes the shell run code when it completes a word")),
  ["bind", unless(/./, "Binds keys of the shell to commands")],
  ["fc", unless(/^-\w*[es]|^[^-]/, "Runs a command of the shell's history again")],
]);

export function walkTest(expression: TestExpression, setting: Setting, walk: Walk): void {
  if (expression.type === "TestUnary") {
    const { text } = expandValue(expression.operand, setting, walk);
    if (/^-[vR]$/.test(expression.operator) && /[[\0]/.test(text)) evaluateText(text, setting, walk);
  } else if (expression.type === "TestBinary") {
    const operands = [expression.left, expression.right].map((word) => expandValue(word, setting, walk).text);
    if (ARITHMETIC.has(expression.operator)) evaluateText(operands.join(" "), setting, walk);
  } else
    for (const inner of Object.values(expression).flat()) if (typeof inner === "object") walkTest(inner, setting, walk);
}

/*
 * Output of simple programs whose arguments and input are known: `$(printf rm)` is read as `rm`.
 */

const MAX_TEXT = 65_536;

/** Programs that print a number, a name or a hash; with such words their output has no slash, and no dash at its start. */
const TOKENS = new Set("date nproc uname whoami hostname arch uuidgen sha256sum md5sum wc id seq".split(" "));
const TOKEN_WORD = /^(?:-[a-zI]+|-?[\d.]+|\+(?:\w|%[FsYyTmdHMSjN])(?:[\w:.-]|%[FsYyTmdHMSjN])*)$/;
/** Programs that turn a disguised text into a readable one. */
const DECODERS = new Set("base64 base32 basenc xxd openssl rev tr tac uudecode".split(" "));
const SILENT = new Set(": true false cd test [ export set shift unset exit return wait".split(" "));
export function knownOutput({ name, args, input }: Call): string {
  if (SILENT.has(name)) return "";
  if (TOKENS.has(name) && args.every(({ text }) => TOKEN_WORD.test(text))) return TOKEN;
  if (name === "mktemp" && args.every(({ text }) => text === "-d")) return `${tmpdir()}/tmp.${TOKEN}`;
  if (name === "cat" || name === "tee") return copy(name, args, input);
  // Unknown pieces stay where they are: the rest of `$(echo "dist-$version")` is known.
  const words = args.map(({ text }) => text);
  if (name === "echo" && args.every(isLiteral) && !/^-[neE]/.test(words[0] ?? "")) return `${words.join(" ")}\n`;
  if (name === "printf" && args.every(isPlain)) return printed(words) ?? UNKNOWN;
  return UNKNOWN;
}

/** True when a call decodes a text that the command itself holds: `echo cm0= | base64 -d`. */
export function isDecodingText({ name, input }: Call): boolean {
  return DECODERS.has(name) && input.kind === "text" && !input.text.includes(UNKNOWN);
}

function copy(name: string, args: readonly Arg[], input: Input): string {
  const copies = name === "tee" || args.every(({ text }) => text === "-");
  return copies && input.kind === "text" && input.text.length <= MAX_TEXT ? input.text : UNKNOWN;
}

/** True for a word that every `echo` prints as it is. */
function isLiteral({ text, glob, splits }: Arg): boolean {
  return !glob && !splits && !text.includes("\\");
}

function isPlain(arg: Arg): boolean {
  return isKnown(arg) && !arg.glob && !arg.splits && arg.content === undefined;
}

/** Only for a format of `%s`, plain characters and line feeds. */
function printed([format = "", ...values]: readonly string[]): string | undefined {
  if (!/^(?!-)(?:%s|\\n|[^%\\])*$/.test(format) || values.length * format.length > MAX_TEXT) return undefined;
  const holes = format.split("%s").length - 1;
  const rounds = holes === 0 ? 1 : Math.max(1, Math.ceil(values.length / holes));
  const rest = values.toReversed();
  return format
    .repeat(rounds)
    .replaceAll("\\n", "\n")
    .replaceAll("%s", () => rest.pop() ?? "");
}
