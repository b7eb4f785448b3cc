/** Rules for awk, whose programs can run commands and name files. A program that is not read to its end asks. */
import {
  ask,
  askForCode,
  type CommandEffect,
  opaque,
  type Program,
  reads,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";
import { bracketEnd, scriptsOf } from "./sed-rules.ts";

const awk: Rule = {
  posix: true,
  short: "F:v:f:bcCe:E:ghi:IMnNOPrsStV",
  long: "field-separator= assign= file= characters-as-bytes traditional copyright source= exec= gen-pot help include= lint=? bignum use-lc-numeric non-decimal-data optimize posix re-interval no-optimize sandbox lint-old version csv",
  options: {
    "l: load= o:: p:: d:: D:: L:: W: dump-variables=? debug=? profile=? pretty-print=?": opaque(
      "Makes awk load or write another file ({option})",
    ),
  },
  unlisted: askForCode("Runs awk with {option}, an option that is not known"),
  effects: ({ input }, options) => {
    const { files, scripts, inputs: words } = scriptsOf(options, ["e", "source"], ["f", "file", "E", "exec"], input);
    const inputs = words.filter(({ text }) => !/^\w+=/.test(text));
    const included = valuesOf(options, "i", "include");
    const inPlace = included.length > 0 && included.every(({ text }) => text === "inplace");
    return [
      ...(inPlace ? writes(inputs) : reads(inputs)),
      ...files.map((file) => askForCode(`Runs the awk script ${shown(file)}`)),
      ...(has(options, "S", "sandbox") ? [] : scripts.flatMap(awkEffects)),
      ...(included.length > 0 && !inPlace ? [opaque("Makes awk load another file")] : []),
    ];
  },
};

function awkEffects(script: Arg): readonly CommandEffect[] {
  const { text } = script;
  if (text.includes(UNKNOWN)) return [opaque(`Runs an awk program that is not known before it runs: ${shown(script)}`)];
  // A slash in a bracket expression ends the pattern in some versions of awk.
  if (text.length > MAX_PROGRAM) return [ask("Runs an awk program that is too long to be read")];
  const readings = /\[[^\]]*\//.test(text) ? [true, false] : [true];
  const read = readings.map((brackets) => tokensOf(text, brackets)).filter((tokens) => tokens !== undefined);
  if (read.length === 0) return [ask(`Runs an awk program that cannot be read: ${shown(script)}`)];
  return read.flatMap((tokens) => [...commandEffects(tokens), ...fileEffects(tokens)]);
}

type Token = {
  readonly kind: "string" | "regex" | "name" | "number" | "sign" | "end";
  /** The text; of a string its content as it is written. */
  readonly text: string;
};

const NEXT =
  /[ \t\r]+|\\\r?\n|#[^\n]*|(?<string>"(?:[^"\\\n]|\\[\s\S])*")|(?<name>[A-Za-z_]\w*)|(?<number>\d*\.?\d+(?:[eE][-+]?\d+)?\.?|\d+\.)|(?<end>[;\n{}])|(?<sign>\|\||&&|\|&|>>|\+\+|--|\*\*|[-+*%^!=<>]=|[-+*%^!<>=~|?:,$()[\]])/y;
const DIVISION = /(?<sign>\/=?)/y;
/** Longest program that is read (UTF-16 units). */
const MAX_PROGRAM = 4096;

/** Pattern that starts with the slash at `start`; undefined when nothing ends it. */
function patternAt(text: string, start: number, brackets: boolean): string | undefined {
  for (let at = start + 1; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === "/") return at === start + 1 ? undefined : text.slice(start, at + 1);
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[" && brackets) at = bracketEnd(text, at);
  }
  return undefined;
}

/** Words before a value: a slash after one of them starts a pattern. */
const BEFORE_VALUE = new Set("print printf return in else do delete case exit BEGIN END".split(" "));
/** After one of these a slash may divide or start a pattern. */
const MAY_DIVIDE = new Set(["getline", "$"]);
const CONDITIONS = new Set(["if", "while", "for", "switch"]);

/** Tokens of a program; undefined when a character of it has no certain meaning. */
function tokensOf(text: string, brackets: boolean): readonly Token[] | undefined {
  const tokens: Token[] = [];
  /** For each open parenthesis: it holds the condition of a statement. */
  const open: boolean[] = [];
  let afterCondition = false;
  for (let at = 0; at < text.length; ) {
    const last = tokens.at(-1);
    const isPattern = text[at] === "/" && !isOperand(last);
    const isUnclear = isPattern && (afterCondition || MAY_DIVIDE.has(last?.text ?? ""));
    const next = isPattern ? regexAt(text, at, brackets) : tokenAt(text, at);
    if (!next || isUnclear) return undefined;
    at += next.length;
    const { token } = next;
    if (!token) continue;
    afterCondition = closesCondition(token, last, open);
    tokens.push(token);
  }
  return tokens;
}

/** Keeps the parentheses that are open; true at the end of a condition. */
function closesCondition({ text }: Token, last: Token | undefined, open: boolean[]): boolean {
  if (text === "(") open.push(CONDITIONS.has(last?.text ?? ""));
  return text === ")" && open.pop() === true;
}

/** A token and its length in the text. Blanks and comments have no token. */
type Next = { readonly length: number; readonly token: Token | undefined };

function regexAt(text: string, at: number, brackets: boolean): Next | undefined {
  const pattern = patternAt(text, at, brackets);
  return pattern === undefined ? undefined : { length: pattern.length, token: { kind: "regex", text: pattern } };
}

/** The next token; a slash here divides. */
function tokenAt(text: string, at: number): Next | undefined {
  const pattern = text[at] === "/" ? DIVISION : NEXT;
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found ? { length: found[0].length, token: tokenOf(found) } : undefined;
}

function tokenOf({ groups = {} }: RegExpExecArray): Token | undefined {
  const { string, name, number, sign, end } = groups;
  if (string !== undefined) return { kind: "string", text: string.slice(1, -1) };
  if (name !== undefined) return { kind: "name", text: name };
  if (number !== undefined) return { kind: "number", text: number };
  if (sign !== undefined) return { kind: "sign", text: sign };
  return end === undefined ? undefined : { kind: "end", text: end };
}

/** True when a slash after the token divides. */
function isOperand(token: Token | undefined): boolean {
  if (!token || token.kind === "end") return false;
  if (token.kind === "sign") return [")", "]", "++", "--"].includes(token.text);
  return token.kind !== "name" || !BEFORE_VALUE.has(token.text);
}

/** A bar pipes to or from a command; a name in ARGV is read as a file. */
function commandEffects(tokens: readonly Token[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  const has = (kind: Token["kind"], ...texts: readonly string[]) =>
    tokens.some((token) => token.kind === kind && texts.includes(token.text));
  const strings = tokens.filter(({ kind }) => kind === "string").map(({ text }) => plain(text));
  const choosesFiles = has("name", "ARGV", "ARGC", "ARGIND") || (has("name", "getline") && has("sign", "<"));
  if (choosesFiles) effects.push(...readsSecrets(strings.map(knownArg)));
  if (has("name", "ARGV", "ARGC", "ARGIND"))
    effects.push(ask("Runs an awk program that chooses the files that it reads"));
  if (!has("sign", "|", "|&") && !has("name", "system")) return effects;
  const codes = strings.length > 1 ? [...strings, strings.join(" ")] : strings;
  effects.push(askForCode("Runs shell commands from an awk program"));
  return [...effects, ...codes.map((code): CommandEffect => ({ kind: "shell", code, escalateOnly: true }))];
}

function plain(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll("\\n", "\n").replaceAll(UNKNOWN, " ");
}

const NESTING: Readonly<Record<string, number>> = { "(": 1, "[": 1, ")": -1, "]": -1 };

/** Files of `print > "file"` and `getline < "file"`. In a print statement a `>` outside of parentheses redirects. */
function fileEffects(tokens: readonly Token[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  let depth = 0;
  let printing: number | undefined;
  let getting = false;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind === "end") [printing, getting] = [undefined, false];
    if (kind === "name" && /^printf?$/.test(text)) printing = depth;
    getting ||= text === "getline";
    if (kind !== "sign") continue;
    depth += NESTING[text] ?? 0;
    if (printing !== undefined && depth <= printing && /^>>?$/.test(text))
      effects.push(...writes([targetAt(tokens, at)]));
    if (getting && text === "<") effects.push(...gotten(targetAt(tokens, at)));
  }
  return effects;
}

function gotten(path: Arg): readonly CommandEffect[] {
  return path.text.includes(UNKNOWN) ? [ask("Runs an awk program that computes the names of files")] : reads([path]);
}

/** File after a redirection: one string and nothing joined to it, else unknown. */
function targetAt(tokens: readonly Token[], at: number): Arg {
  const isWrapped = tokens[at + 1]?.text === "(" && tokens[at + 3]?.text === ")";
  const [target, next] = isWrapped ? [tokens[at + 2], tokens[at + 4]] : tokens.slice(at + 1, at + 3);
  const ends = next === undefined || next.kind === "end" || [")", ",", "|", "&&", "||"].includes(next.text);
  const isPlain = target?.kind === "string" && !/\\|^\/inet/.test(target.text);
  return knownArg(isPlain && ends && next?.kind !== "string" ? target.text : UNKNOWN);
}

export const awks: ReadonlyMap<string, Program> = ruleTable({ "awk gawk mawk nawk": awk });
