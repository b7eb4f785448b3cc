/** Built-in commands of the shell: they change it, run code in it, or evaluate their arguments. */

import type { TestExpression } from "unbash";
import { askForCode, type Call } from "../command-effect.ts";
import { readOptions, valuesOf } from "../rules/options.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { evaluateText } from "./arithmetic.ts";
import { assignText, forgetVariables, setVariable } from "./assignments.ts";
import { expandValue } from "./expand-word.ts";
import { knownOutput } from "./known-output.ts";
import { foldersOf, runEffects, runShell } from "./run-effects.ts";
import { enterFolders, forkState, type Output, type Setting, variable, type Walk } from "./shell-state.ts";

type Builtin = (call: Call, setting: Setting, walk: Walk) => Output;

/** Built-ins whose arguments are assignments. */
export const declarations: ReadonlySet<string> = new Set(["declare", "typeset", "export", "readonly", "local"]);

/** Built-ins that keep the assignment in front of them in some shells. */
export const persistent: ReadonlySet<string> = new Set([
  ":",
  ".",
  "break",
  "continue",
  "eval",
  "exec",
  "exit",
  "export",
  "readonly",
  "return",
  "set",
  "shift",
  "source",
  "times",
  "trap",
  "unset",
]);

const nothing: Builtin = (call) => knownOutput(call);
const declare: Builtin = ({ args }, setting, walk) => {
  for (const { text } of args) {
    if (/^[-+]\w*n/.test(text))
      walk.record.askAlways("Makes a variable a reference to another one, which may not be known");
    if (/^-\w*f/.test(text)) walk.record.ask("Exports shell functions to other programs");
  }
  const names = args.filter(({ text }) => !/^[-+]/.test(text));
  if (args.some(({ text }) => /^-\w*i/.test(text))) {
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
  if (file?.content !== undefined) {
    return runShell({ kind: "shell", code: file.content, here: true }, setting, walk) ?? UNKNOWN;
  }
  if (file && /(?:^|\/)\.?\w*env[\w.-]*\/(?:bin|Scripts)\/activate$/.test(file.text) && !file.text.includes("..")) {
    walk.record.markProject();
    return "";
  }
  if (file?.text === "/dev/stdin" && setting.input.kind === "text") {
    return runShell({ kind: "shell", code: setting.input.text, here: true }, setting, walk) ?? UNKNOWN;
  }
  if (file && isKnown(file) && !file.glob) {
    const otherwise = [askForCode(`Runs the script ${shown(file)} in this shell`)];
    const script = { kind: "script", source: { of: "file", path: file }, here: true, otherwise } as const;
    runEffects([{ kind: "read", path: file }, script], setting, walk);
  } else walk.record.askUnknown("Runs a script in this shell that is not known before it runs");
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

const alias: Builtin = ({ args }, { state }, walk) => {
  for (const { text } of args) {
    const equals = text.indexOf("=");
    if (equals > 0) state.aliases.set(text.slice(0, equals), [text.slice(equals + 1)]);
  }
  if (args.some(({ text }) => text.includes(UNKNOWN)))
    walk.record.askAlways("Makes an alias that is not known before it runs");
  return UNKNOWN;
};

const trap: Builtin = ({ args }, setting, walk) => {
  const [action, ...signals] = args.filter(({ text }) => text !== "--");
  if (!action || signals.length === 0 || /^-|^$|^\d+$/.test(action.text)) return UNKNOWN;
  runShell({ kind: "shell", code: action.text, here: true }, { ...setting, state: forkState(setting.state) }, walk);
  // The action may print at the end of the script.
  return UNKNOWN;
};

const set: Builtin = ({ args }, { state }) => {
  const dashes = args.findIndex(({ text }) => text === "--");
  const first = dashes >= 0 ? dashes + 1 : args.findIndex(({ text }) => !/^[-+]/.test(text));
  const options = args.slice(0, first < 0 ? args.length : first);
  if (first >= 0 && !options.some(({ text }) => /^[-+]\w*o$/.test(text))) state.positional = args.slice(first);
  return args.length === 0 ? UNKNOWN : "";
};

const shift: Builtin = ({ args }, { state }) => {
  const count = args[0] === undefined ? 1 : Number(args[0].text);
  const open = state.positional?.some((arg) => arg.splits || arg.glob) ?? true;
  state.positional = open || Number.isNaN(count) ? undefined : state.positional?.slice(count);
  return "";
};

/** `read` and `mapfile` set variables from their input. */
const read: Builtin = ({ name, args }, setting, walk) => {
  const grammar = name === "read" ? "a:d:ei:n:N:p:rst:u:" : "d:n:O:s:tu:C:c:";
  const options = readOptions(args, { short: grammar });
  for (const { text } of valuesOf(options, "C")) runShell({ kind: "shell", code: text, here: true }, setting, walk);
  const names = [...options.operands, ...valuesOf(options, "a")];
  const fallback = name === "read" ? "REPLY" : "MAPFILE";
  forgetVariables(names.length > 0 ? names : [knownArg(fallback)], setting, walk);
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
    if (name.text === "IFS") walk.record.ask("Changes how the shell splits words");
    if (name.text.includes("[") || name.text.includes(UNKNOWN)) evaluateText(name.text, setting, walk);
    setting.state.variables.set(name.text, [knownArg("")]);
    setting.state.functions.delete(name.text);
    setting.state.aliases.delete(name.text);
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

const test: Builtin = ({ args }, setting, walk) => {
  checkTestArguments(args, setting, walk);
  return "";
};

/** A built-in that loads or binds code with one of its options. */
function unless(option: RegExp, reason: string): Builtin {
  return (call, _, walk) => {
    if (call.args.some(({ text }) => option.test(text))) walk.record.askAlways(reason);
    return knownOutput(call);
  };
}

/** `wait -p` and `getopts` set a variable; `printf -v` and `read` have their own. */
const wait: Builtin = ({ args }, setting, walk) => {
  const names = args.filter((_, at) => /^-\w*p$/.test(args[at - 1]?.text ?? ""));
  forgetVariables(names, setting, walk);
  return "";
};

const getopts: Builtin = ({ args }, setting, walk) => {
  forgetVariables(args.slice(1, 2), setting, walk);
  return "";
};

const ORDINARY =
  ": true false pwd dirs type times umask ulimit jobs bg fg disown break continue return exit logout suspend caller help echo";

/** Every built-in by name. */
export const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ...ORDINARY.split(" ").map((name): [string, Builtin] => [name, nothing]),
  ...[...declarations].map((name): [string, Builtin] => [name, declare]),
  ["eval", evaluate],
  ["cd", cd],
  ["chdir", cd],
  ["pushd", pushd],
  ["popd", popd],
  ["source", source],
  [".", source],
  ["command", runRest],
  ["builtin", runRest],
  ["exec", runRest],
  ["alias", alias],
  ["unalias", nothing],
  ["trap", trap],
  ["set", set],
  ["shift", shift],
  ["read", read],
  ["mapfile", read],
  ["readarray", read],
  ["printf", printf],
  ["unset", unset],
  ["let", calculate],
  ["test", test],
  ["[", test],
  ["wait", wait],
  ["getopts", getopts],
  ["hash", unless(/^-\w*p/, "Makes a command name run another program")],
  ["history", unless(/^-\w*[wanr]/, "Reads or writes a file of the shell's history")],
  ["enable", unless(/^-\w*[fn]/, "Loads or switches off built-in commands of the shell")],
  ["complete", unless(/^-\w*[CF]/, "Makes the shell run code when it completes a word")],
  ["compgen", unless(/^-\w*[CFW]/, "Makes the shell run code when it completes a word")],
  [
    "shopt",
    unless(
      /^(?:dotglob|nocaseglob|lastpipe|expand_aliases|extquote|compat\d+)$/,
      "Changes how the shell reads what follows",
    ),
  ],
  ["bind", unless(/./, "Binds keys of the shell to commands")],
  ["fc", unless(/^-\w*[es]|^[^-]/, "Runs a command of the shell's history again")],
]);

/** Operators of `[[ … ]]`, `[` and `test` that evaluate their operands as arithmetic. */
const ARITHMETIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Walks the commands inside a `[[ … ]]`. */
export function walkTest(expression: TestExpression, setting: Setting, walk: Walk): void {
  switch (expression.type) {
    case "TestUnary": {
      const operand = expandValue(expression.operand, setting, walk);
      if (/^-[vR]$/.test(expression.operator) && /[[\0]/.test(operand.text)) evaluateText(operand.text, setting, walk);
      return;
    }
    case "TestBinary": {
      const operands = [expandValue(expression.left, setting, walk), expandValue(expression.right, setting, walk)];
      if (ARITHMETIC.has(expression.operator)) for (const { text } of operands) evaluateText(text, setting, walk);
      return;
    }
    case "TestLogical":
      for (const operand of expression.operands) walkTest(operand, setting, walk);
      return;
    case "TestNot":
      walkTest(expression.operand, setting, walk);
      return;
    case "TestGroup":
      walkTest(expression.expression, setting, walk);
      return;
  }
}

/** Checks the arguments of `[` and `test`: `-v` and `-R` evaluate a subscript, and other shells than bash each integer. */
function checkTestArguments(args: readonly Arg[], setting: Setting, walk: Walk): void {
  const named = args.filter((_, at) => /^-[vR]$/.test(args[at - 1]?.text ?? ""));
  const integers = args.some(({ text }) => ARITHMETIC.has(text)) ? args.filter(isKnown) : [];
  for (const { text } of [...named, ...integers]) if (/[[\0`$]/.test(text)) evaluateText(text, setting, walk);
}
