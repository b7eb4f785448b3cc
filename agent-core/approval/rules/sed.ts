/** sed: a script of its own, in which `e` runs commands and `w` writes files. */
import { ask, askForCode, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, readOptions, valuesOf } from "./options.ts";

/** A substitution's flags run from its third delimiter to the end of the command. */
const PLAIN_FLAGS = /^[gpiImMeE\d]*/;

const sed: Program = ({ args }) => {
  const options = readOptions(args.map(inPlaceSuffix), {
    short: "nEe:f:i::rl:suzb",
    long: [
      ..."quiet silent debug expression= file= follow-symlinks in-place=? line-length= null-data posix".split(" "),
      ..."regexp-extended separate sandbox unbuffered zero-terminated".split(" "),
    ],
  });
  const given = valuesOf(options, "e", "expression");
  const files = valuesOf(options, "f", "file");
  const fromOperand = given.length === 0 && files.length === 0;
  const scripts = fromOperand ? options.operands.slice(0, 1) : given;
  const targets = fromOperand ? options.operands.slice(1) : options.operands;
  const sandboxed = has(options, "sandbox");
  return [
    ...(has(options, "i", "in-place") ? writes(targets) : reads(targets)),
    ...reads(files),
    ...files.map((file) => askForCode(`Runs the sed script ${shown(file)}`)),
    ...(sandboxed ? [] : scripts.flatMap(scriptEffects)),
    ...unclear(options.strange, scripts),
  ];
};

/** The suffix of `-i` is no cluster of letters: `-i.bak`, and of BSD `-i ''`. */
function inPlaceSuffix(arg: Arg): Arg {
  return /^-[nErsuz]*i[^nErsuz]/.test(arg.text) ? knownArg("-i") : arg;
}

function unclear(strange: readonly Arg[], scripts: readonly Arg[]): readonly CommandEffect[] {
  return strange
    .filter((arg) => !scripts.includes(arg))
    .map((arg) => askForCode(`Runs sed with ${shown(arg)}, which may be an option`));
}

function scriptEffects(script: Arg): readonly CommandEffect[] {
  if (script.text.includes(UNKNOWN)) return unknownScript(script);
  const effects: CommandEffect[] = [];
  let rest = script.text;
  while (rest !== "") {
    const read = readCommand(rest, effects);
    if (read <= 0) return [...effects, ask(`Runs a sed script that cannot be read: ${shown(script)}`)];
    rest = rest.slice(read);
  }
  return effects;
}

/** A value inside `s/a/$x/` may hold a delimiter and then a flag: it could run a command. */
function unknownScript(script: Arg): readonly CommandEffect[] {
  return [opaque(`Runs a sed script that is not known before it runs: ${shown(script)}`)];
}

/** Reads one command of a script; gives its length, 0 when it is not understood. */
function readCommand(text: string, effects: CommandEffect[]): number {
  const start = /^[\s;{}]+/.exec(text)?.[0].length ?? 0;
  if (start > 0) return start;
  if (text.startsWith("#")) return lineLength(text);
  const address = addressLength(text);
  const letter = text[address] ?? "";
  const after = address + 1;
  if (letter === "") return address > 0 ? text.length : 0;
  if (/[sy]/.test(letter)) return readSubstitution(text, address, effects);
  if (/[wWrR]/.test(letter)) return readFile(text, address, effects);
  if (letter === "e") return readRun(text, address, effects);
  if (/[aic:btTv]/.test(letter)) return lineLength(text);
  if (/[qQlL]/.test(letter)) return after + (/^\s*\d*/.exec(text.slice(after))?.[0].length ?? 0);
  return /[=dDgGhHnNpPxzF{}]/.test(letter) ? after : 0;
}

function lineLength(text: string): number {
  const end = /[^\\]\n|^\n/.exec(text);
  return end ? end.index + end[0].length : text.length;
}

const ADDRESS = /^(?:\d+(?:~\d+)?|\$|\/(?:[^\\/\n]|\\.)*\/[IM]*|\\(.)(?:(?!\1)[^\\\n]|\\.)*\1[IM]*)/;

function addressLength(text: string): number {
  const first = ADDRESS.exec(text)?.[0].length ?? 0;
  let length = first;
  const comma = first > 0 ? /^\s*,\s*/.exec(text.slice(first))?.[0].length : undefined;
  if (comma !== undefined) {
    const rest = text.slice(first + comma);
    length = first + comma + (ADDRESS.exec(rest)?.[0].length ?? /^[+~]\d+/.exec(rest)?.[0].length ?? 0);
  }
  return length + (/^[\s!]*/.exec(text.slice(length))?.[0].length ?? 0);
}

function readSubstitution(text: string, at: number, effects: CommandEffect[]): number {
  const delimiter = text[at + 1];
  if (delimiter === undefined || delimiter === "\n" || delimiter === "\\") return 0;
  const middle = delimited(text, at + 2, delimiter);
  const end = middle > 0 ? delimited(text, middle, delimiter) : 0;
  if (end === 0) return 0;
  if (text[at] === "y") return end;
  const rest = text.slice(end);
  const flags = PLAIN_FLAGS.exec(rest)?.[0] ?? "";
  if (flags.includes("e")) effects.push(opaque("Runs what a sed script makes of its input as shell commands"));
  if (rest[flags.length] !== "w") return end + flags.length;
  return end + flags.length + readFile(rest.slice(flags.length), 0, effects);
}

/** Position after the next unescaped delimiter; 0 when there is none. A bracket does not protect it everywhere. */
function delimited(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === delimiter) return at + 1;
  }
  return 0;
}

function readFile(text: string, at: number, effects: CommandEffect[]): number {
  const line = text.slice(at + 1).split("\n")[0] ?? "";
  const path = knownArg(line.trim());
  effects.push(...(/[wW]/.test(text[at] ?? "") ? writes([path]) : reads([path])));
  return at + 1 + line.length;
}

function readRun(text: string, at: number, effects: CommandEffect[]): number {
  const line = text.slice(at + 1).split("\n")[0] ?? "";
  const code = line.trim();
  if (code === "") effects.push(opaque("Runs its input as shell commands through sed"));
  else effects.push(askForCode("Runs a shell command from a sed script"), { kind: "shell", code });
  return at + 1 + line.length;
}

export const editors: ReadonlyMap<string, Program> = new Map([
  ["sed", sed],
  ["gsed", sed],
]);
