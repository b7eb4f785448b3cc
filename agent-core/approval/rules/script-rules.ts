/** Rules for sed and awk: languages that can run commands and write files. A script that does neither only reads. */
import { ask, askForCode, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { programOf, type Rule, ruleTable } from "./rule.ts";

/** A substitution's flags run from its third delimiter to the end of the command. */
const PLAIN_FLAGS = /^[gpiImMeE\d]*/;

const SED: Rule = {
  short: "nEe:f:i::rl:suzb",
  long: "quiet silent debug expression= file= follow-symlinks in-place=? line-length= null-data posix regexp-extended separate sandbox unbuffered zero-terminated",
  closed: true,
  effects: (_, options) => {
    const { files, scripts, inputs } = scriptsOf(options, ["e", "expression"], ["f", "file"]);
    return [
      ...(has(options, "i", "in-place") ? writes(inputs) : reads(inputs)),
      ...reads(files),
      ...files.map((file) => askForCode(`Runs the sed script ${shown(file)}`)),
      ...(has(options, "sandbox") ? [] : scripts.flatMap(sedEffects)),
      ...options.strange
        .filter((arg) => !scripts.includes(arg))
        .map((arg) => askForCode(`Runs sed with ${shown(arg)}, which may be an option`)),
    ];
  },
};
const sedRule = programOf(SED);
const sed: Program = (call) => sedRule({ ...call, args: call.args.map(inPlaceSuffix) });

/** Scripts on the command line, script files, and the files that they work on. */
function scriptsOf(options: Options, codes: readonly string[], scriptFiles: readonly string[]) {
  const given = valuesOf(options, ...codes);
  const files = valuesOf(options, ...scriptFiles);
  const isOperand = given.length === 0 && files.length === 0;
  const { operands } = options;
  return {
    files,
    scripts: isOperand ? operands.slice(0, 1) : given,
    inputs: isOperand ? operands.slice(1) : operands,
  };
}

/** The suffix of `-i` is no cluster of letters: `-i.bak`, and of BSD `-i ''`. */
function inPlaceSuffix(arg: Arg): Arg {
  return /^-[nErsuz]*i[^nErsuz]/.test(arg.text) ? knownArg("-i") : arg;
}

function sedEffects(script: Arg): readonly CommandEffect[] {
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

/** A value inside `s/a/$x/` may hold a delimiter and a flag that runs a command. */
function unknownScript(script: Arg): readonly CommandEffect[] {
  return [opaque(`Runs a sed script that is not known before it runs: ${shown(script)}`)];
}

/** Reads one command of a script. Returns its length, or 0 when it is not understood. */
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
  if (flags.includes("e")) effects.push(opaque("Runs the output of a sed script as shell commands"));
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

const awk: Rule = {
  posix: true,
  short: "F:v:f:bcCd::D::e:E:ghi:Il:L::MnNo::Op::PrsStV",
  long: "field-separator= assign= file= characters-as-bytes traditional copyright dump-variables=? debug=? source= exec= gen-pot help include= load= lint=? bignum use-lc-numeric non-decimal-data pretty-print=? optimize profile=? posix re-interval no-optimize sandbox lint-old version csv",
  options: { "l: load= o:: p:: d:: D::": opaque("Makes awk load or write another file ({option})") },
  closed: true,
  effects: (_, options) => {
    const { files, scripts, inputs: words } = scriptsOf(options, ["e", "source"], ["f", "file", "E", "exec"]);
    const inputs = words.filter(({ text }) => !/^\w+=/.test(text));
    const included = valuesOf(options, "i", "include");
    const inPlace = included.some(({ text }) => text.startsWith("inplace"));
    return [
      ...(inPlace ? writes(inputs) : reads(inputs)),
      ...files.map((file) => askForCode(`Runs the awk script ${shown(file)}`)),
      ...(has(options, "S", "sandbox") ? [] : scripts.flatMap(awkEffects)),
      ...(included.length > 0 && !inPlace ? [opaque("Makes awk load another file")] : []),
      ...options.strange
        .filter((arg) => !scripts.includes(arg) && !inputs.includes(arg))
        .map((arg) => askForCode(`Runs awk with ${shown(arg)}, which may be an option`)),
    ];
  },
};

/** The program without its strings, regular expressions and comments; the strings apart. */
function awkEffects(script: Arg): readonly CommandEffect[] {
  const { text } = script;
  if (text.includes(UNKNOWN)) return [opaque(`Runs an awk program that is not known before it runs: ${shown(script)}`)];
  const strings: string[] = [];
  const code = text
    .replace(/"((?:[^"\\]|\\[\s\S])*)"/g, (_, string: string) => {
      strings.push(string);
      return `"${strings.length - 1}"`;
    })
    .replace(/(^|[\s(,!~&|{;])\/(?:[^/\\\n]|\\.)+\//g, "$1 0 ")
    .replace(/#.*/g, "");
  return [...runs(code, strings), ...fileEffects(code, strings)];
}

function runs(code: string, strings: readonly string[]): readonly CommandEffect[] {
  // `||` is an or; a single bar pipes to or from a command.
  const piped = /(?<!\|)\|&?(?!\|)/.test(code);
  if (!piped && !/\bsystem\s*\(|@\s*\w+\s*\(|@(?:load|include)/.test(code)) return [];
  const shells = strings.map((text): CommandEffect => ({ kind: "shell", code: plain(text), escalateOnly: true }));
  const joined: CommandEffect = { kind: "shell", code: plain(strings.join(" ")), escalateOnly: true };
  return [askForCode("Runs shell commands from an awk program"), ...shells, joined];
}

function plain(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll("\\n", "\n").replaceAll(UNKNOWN, " ");
}

/** `print > "file"`: inside a print a `>` outside of parentheses is a redirection. */
function fileEffects(code: string, strings: readonly string[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  for (const [statement] of code.matchAll(/\bprintf?\b[^;\n}]*/g)) {
    const flat = statement.replace(/\([^()]*\)/g, "").replace(/\([^()]*\)/g, "");
    const target = />>?\s*(.*)$/.exec(flat)?.[1]?.trim();
    if (target === undefined) continue;
    const string = /^"(\d+)"$/.exec(target)?.[1];
    const path = string === undefined ? UNKNOWN : (strings[Number(string)] ?? UNKNOWN);
    effects.push(...writes([knownArg(path)]));
  }
  for (const [, number] of code.matchAll(/\bgetline\b[^<;\n}]*<\s*"(\d+)"/g)) {
    effects.push(...reads([knownArg(strings[Number(number)] ?? UNKNOWN)]));
  }
  return effects;
}

export const scriptTools: ReadonlyMap<string, Program> = ruleTable({
  "sed gsed": sed,
  "awk gawk mawk nawk": awk,
});
