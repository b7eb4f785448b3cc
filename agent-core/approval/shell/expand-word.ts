/**
 * Expansion of words as in bash, as far as values are known before the command runs; walks the commands inside. Arithmetic
 * assigns variables, and evaluates the text of variables again, with the substitutions in it.
 */

import type {
  ArithmeticExpression,
  DoubleQuotedChild,
  ParameterExpansionPart,
  ParameterOperation,
  Word,
  WordPart,
} from "unbash";
import { askAlways, opaque } from "../command-effect.ts";
import { judgeVariable } from "../rules/sensitive-variables.ts";
import { type Arg, isKnown, knownArg, TOKEN, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "./arg.ts";
import { TooMuchToJudge } from "./recorder.ts";
import { forkState, NO_INPUT, type Output, type Setting, type ShellState, variable, type Walk } from "./shell-state.ts";

/** Shorter words are read whatever they hold (UTF-16 units). */
const LONG_WORD = 4096;
const MAX_TANGLES = 500;
/** No real word has as many quotes and expansions. */
const MAX_PARTS = 5000;
/** Values that expansions build up; a longer one is as good as unknown (UTF-16 units). */
const MAX_VALUE = 8192;
const TILDE = /^~([A-Za-z0-9_.+-]*)(?=\/|$)/;
/** A tilde at the start of a word, or behind the sign of a word like an assignment: `of=~/x`. */
const BEFORE_TILDE = /^([A-Za-z_]\w*\+?=)?(?=~)/;
const GLOB = /[*?[]/;

/** `single`: the shell neither splits the word nor matches it. */
type Mode = { readonly setting: Setting; readonly walk: Walk; readonly single: boolean };

/** Words that `word` expands to: none, one or several. */
export function expandWord(word: Word, setting: Setting, walk: Walk): readonly Arg[] {
  return expand(word, { setting, walk, single: false });
}

export function expandWords(words: readonly Word[], setting: Setting, walk: Walk): readonly Arg[] {
  return words.flatMap((word) => expandWord(word, setting, walk));
}

/** Value of `word` where the shell neither splits nor matches: in assignments, `case`, `[[ ]]` and `<<<`. */
export function expandValue(word: Word, setting: Setting, walk: Walk): Arg {
  return only(expand(word, { setting, walk, single: true }));
}

/** Value of the parts of a here-document or of an arithmetic word. */
export function expandParts(parts: readonly WordPart[], setting: Setting, walk: Walk): Arg {
  const mode = { setting, walk, single: true };
  return only(joined(parts.flatMap((part) => piecesOf(part, mode))));
}

function only([first = knownArg(""), ...more]: readonly Arg[]): Arg {
  return more.length === 0 ? first : { ...first, text: [first, ...more].map(({ text }) => text).join(" ") };
}

function expand(word: Word, mode: Mode): readonly Arg[] {
  const { parts } = word;
  const isLong = [word, ...(parts ?? [])].some((part) => "parts" in part && (part.parts?.length ?? 0) > MAX_PARTS);
  if (isLong || isTangled(word.text)) throw new TooMuchToJudge();
  const isBraced = !mode.single && parts?.some((part) => part.type === "BraceExpansion");
  const args = parts && isBraced ? expandBraced(word, parts, mode) : joined(piecesOfWord(word, mode));
  mode.walk.record.countWords(args.length);
  return args;
}

/** A long word without quotes that consists of patterns and expansions: the parser takes it apart in quadratic time. */
function isTangled(text: string): boolean {
  return text.length > LONG_WORD && !/['"]/.test(text) && (text.match(/[*?[{$]/g)?.length ?? 0) > MAX_TANGLES;
}

type Bit = Arg & { readonly isSolid: boolean };
type Piece = readonly Bit[];

const solid = (arg: Arg): Bit => ({ ...arg, isSolid: true });
const literal = (text: string): Piece => [solid(knownArg(text))];

type OpenBit = { -readonly [Key in keyof Bit]: Bit[Key] };

function joined(pieces: readonly Piece[]): readonly Arg[] {
  const bits: OpenBit[] = [];
  for (const piece of pieces) {
    for (const [at, bit] of piece.entries()) {
      const last = bits.at(-1);
      if (at > 0 || last === undefined) bits.push({ ...bit });
      else append(last, bit);
    }
  }
  return bits.filter(({ isSolid, text }) => isSolid || text !== "").map(({ isSolid, ...arg }) => arg);
}

function append(last: OpenBit, bit: Bit): void {
  if (last.text.length + bit.text.length <= MAX_VALUE) last.text += bit.text;
  else if (!last.text.endsWith(UNKNOWN)) last.text += UNKNOWN;
  last.glob ||= bit.glob;
  last.splits ||= bit.splits;
  last.isSolid ||= bit.isSolid;
  if (bit.content !== undefined) last.content = bit.content;
}

function piecesOfWord({ text, value, parts }: Word, mode: Mode): readonly Piece[] {
  if (!parts) return [literal(BEFORE_TILDE.test(text) ? withTilde(text, value, mode) : value)];
  return parts.flatMap((part, at) => {
    const isTilde = at === 0 && part.type === "Literal" && BEFORE_TILDE.test(part.text);
    if (isTilde && (part.text.includes("/") || parts.length === 1))
      return [literal(withTilde(part.text, part.value, mode))];
    return piecesOf(part, mode);
  });
}

/** Bash expands braces on the text and then reads each result as a word. */
function expandBraced(word: Word, parts: readonly WordPart[], mode: Mode): readonly Arg[] {
  const texts = expandBraces(word.text);
  if (texts === undefined) {
    walkParts(parts, mode);
    return [UNKNOWN_ARGS];
  }
  return texts
    .filter((text) => text !== "")
    .map((text) => ({ ...knownArg(withTilde(text, text, mode)), glob: GLOB.test(text) }));
}

/** Expands `~`, `~/x`, `~+` and `~user`. `written` keeps the escapes: `\~` is not a home. */
function withTilde(written: string, value: string, mode: Mode): string {
  const name = BEFORE_TILDE.exec(written)?.[1] ?? "";
  if (name !== "") return name + withTilde(written.slice(name.length), value.slice(name.length), mode);
  const match = TILDE.exec(written);
  if (!match) return value;
  const rest = value.slice(match[0].length);
  const [, user = ""] = match;
  const named = { "": "HOME", "+": "PWD", "-": "OLDPWD" }[user];
  if (named !== undefined) return `${variable(mode.setting.state, named)[0]?.text ?? UNKNOWN}${rest}`;
  if (/^[+-]?\d+$/.test(user)) return UNKNOWN;
  return `${user === "root" ? "/root" : `/home/${user}`}${rest}`;
}

function piecesOf(part: WordPart, mode: Mode): readonly Piece[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [literal(part.value)];
    case "DoubleQuoted":
    case "LocaleString": {
      const pieces = part.parts.map((child) => quotedPiece(child, mode));
      // `"$@"` without elements is no word.
      return pieces.length > 0 && pieces.every((piece) => piece.length === 0) ? [] : [literal(""), ...pieces];
    }
    case "Glob":
    case "ExtendedGlob":
      walkParts(part.parts ?? [], mode);
      return [[solid({ ...knownArg(part.type === "Glob" ? part.value : "*"), glob: !mode.single })]];
    case "BraceExpansion":
      walkParts(part.parts ?? [], mode);
      return [literal(part.text)];
    case "ProcessSubstitution":
      return [[solid({ ...knownArg("/dev/fd/63"), content: printed(part, mode) })]];
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion": {
      const { elements } = expansionOf(part, mode);
      return [mode.single ? oneOf(elements) : elements.flatMap((arg) => splitOf(arg, mode))];
    }
  }
}

function quotedPiece(part: DoubleQuotedChild, mode: Mode): Piece {
  if (part.type === "Literal") return literal(part.value);
  const { elements, separate } = expansionOf(part, mode);
  return separate && !mode.single ? elements.map(solid) : oneOf(elements);
}

function oneOf(elements: readonly Arg[]): Piece {
  const text = elements.map((arg) => arg.text).join(" ");
  const isLong = text.length > MAX_VALUE;
  return [{ ...only(elements), text: isLong ? UNKNOWN : text, splits: false, isSolid: false }];
}

/** Words of an unquoted value. Where the command set IFS, they are not known. */
function splitOf(arg: Arg, { setting }: Mode): Piece {
  const { text } = arg;
  const isPlain = variable(setting.state, "IFS")[0]?.text === " \t\n" || !/\W/.test(text);
  if (text.includes(UNKNOWN) || text.length > MAX_VALUE || !isPlain)
    return [solid({ ...arg, text: text.includes(UNKNOWN) ? text : UNKNOWN, splits: true })];
  return text.split(/[ \t\n]+/).map((piece) => ({
    ...knownArg(piece),
    glob: arg.glob || GLOB.test(piece),
    isSolid: false,
  }));
}

function walkParts(parts: readonly WordPart[], mode: Mode): void {
  for (const part of parts) piecesOf(part, { ...mode, single: true });
}

/** Values of an expansion. `separate`: in double quotes each one stays a word of its own (`"$@"`). */
type Expansion = { readonly elements: readonly Arg[]; readonly separate: boolean };

const one = (arg: Arg): Expansion => ({ elements: [arg], separate: false });

function expansionOf(part: Exclude<DoubleQuotedChild, { type: "Literal" }>, mode: Mode): Expansion {
  switch (part.type) {
    case "SimpleExpansion":
      return namedValue(part.text.slice(1), mode);
    case "ParameterExpansion":
      return parameterOf(part, mode);
    case "CommandExpansion":
      return one(knownArg(printed(part, mode).replace(/\n+$/, "")));
    case "ArithmeticExpansion":
      if (part.expression) walkArithmetic(part.expression, mode.setting, mode.walk);
      return one(knownArg(TOKEN));
  }
}

function printed(part: Extract<WordPart, { type: "CommandExpansion" | "ProcessSubstitution" }>, mode: Mode): Output {
  const { script, text } = part;
  const { setting, walk } = mode;
  // The parser ends some substitutions too early, at a delimiter around them: `${x/$(rm /)/y}`.
  if (!script || !/[)`}]$/.test(text)) {
    walk.record.add(askAlways(`The substitution ${text.slice(0, 60)} cannot be read`));
    return UNKNOWN;
  }
  // `${ …; }` runs in this shell; other substitutions run in a subshell.
  const state = text.startsWith("${") ? setting.state : forkState(setting.state);
  const isProcess = part.type === "ProcessSubstitution";
  const input = isProcess && part.operator === ">" ? ({ kind: "data", from: "another command" } as const) : NO_INPUT;
  const inner = { ...setting, state, input, parallel: isProcess || setting.parallel };
  return walk.record.nested(() => walk.script(script, inner));
}

function namedValue(name: string, { setting: { state } }: Mode): Expansion {
  if (name === "@" || name === "*") return { elements: state.positional ?? [UNKNOWN_ARGS], separate: name === "@" };
  if (/^[1-9]\d*$/.test(name)) return one(elementAt(state.positional, Number(name) - 1));
  if (/^[?#$!-]$/.test(name)) return one(knownArg(TOKEN));
  return one(name === "_" ? UNKNOWN_ARG : (variable(state, name)[0] ?? knownArg("")));
}

/** The value of `${…}`. The commands inside it are walked; only a plain value and an element are known. */
function parameterOf(part: ParameterExpansionPart, mode: Mode): Expansion {
  const { parameter, index, prefix, operation } = part;
  if (operation) readOperands(operation, parameter, mode);
  if (prefix === "#") return one(knownArg(TOKEN));
  const base = index ? elementOf(parameter, index, mode) : namedValue(parameter, mode);
  if (prefix === "!") {
    // The value is the name of another variable, whose subscript is evaluated.
    evaluateText(base.elements.map(({ text }) => text.replace(/^\w*$/, "")).join(" "), mode.setting, mode.walk);
    return one(operation ? UNKNOWN_ARGS : UNKNOWN_ARG);
  }
  if (!operation) return base;
  const isList = base.separate || /^[@*]$/.test(parameter) || /^(?:Names|Unknown)$/.test(operation.type);
  return { ...base, elements: isList ? [UNKNOWN_ARGS] : [UNKNOWN_ARG] };
}

/** Values of an operation's words, which may be evaluated once more, or assigned. */
function readOperands(operation: ParameterOperation, name: string, { setting, walk }: Mode): void {
  const words = Object.values(operation).filter((each): each is Word => typeof each === "object");
  const operands = words.map((word) => expandValue(word, setting, walk));
  if (operation.type === "Slice") for (const { text } of operands) evaluateText(text, setting, walk);
  if (operation.type === "Transform" && operands[0]?.text === "P")
    walk.record.add(opaque("A prompt string is expanded, which can run commands"));
  if (operation.type === "Default" && operation.operator.endsWith("=")) {
    judgeVariable(name, operands[0] ?? knownArg(""), walk.record);
    setting.state.variables.set(name, [UNKNOWN_ARG]);
  }
}

function elementOf(name: string, index: Word, { setting, walk }: Mode): Expansion {
  const elements = variable(setting.state, name);
  const known = elements.every(isKnown);
  if (index.text === "@" || index.text === "*")
    return { elements: known ? elements : [UNKNOWN_ARGS], separate: index.text === "@" };
  const { text } = expandValue(index, setting, walk);
  evaluateText(text, setting, walk);
  return one(/^\d+$/.test(text) ? elementAt(known ? elements : undefined, Number(text)) : UNKNOWN_ARG);
}

/** Element of a list, unless one before it may be none or several. */
function elementAt(elements: readonly Arg[] | undefined, index: number): Arg {
  const isOpen = elements?.slice(0, index + 1).some((arg) => arg.splits || arg.glob) ?? true;
  return isOpen ? UNKNOWN_ARG : (elements?.[index] ?? knownArg(""));
}

/** A word whose braces expand to more words than this is unknown, and a longer one (UTF-16 units). */
const MAX_WORDS = 200;
const MAX_BRACED = 2000;

/** Words that bash makes of the lists in braces; undefined for other braces, quotes in them, and too many words. */
function expandBraces(source: string): readonly string[] | undefined {
  const words = source.length > MAX_BRACED || /['"`\\$()]|\.\./.test(source) ? [] : bracedWords(source);
  return words.length === 0 || words.length > MAX_WORDS ? undefined : words;
}

/** None when there are too many. A brace without its end or without a comma stands for itself. */
function bracedWords(source: string): readonly string[] {
  for (let open = source.indexOf("{"); open >= 0; open = source.indexOf("{", open + 1)) {
    const [items, rest] = listAt(source, open);
    if (items.length < 2) continue;
    const inner = items.map(bracedWords);
    const tails = bracedWords(rest);
    if (inner.some(({ length }) => length === 0) || inner.flat().length * tails.length > MAX_WORDS) return [];
    return inner.flat().flatMap((item) => tails.map((tail) => source.slice(0, open) + item + tail));
  }
  return [source];
}

/** Items of the list whose brace is at `open`, and the text behind it; no items for a brace without its end. */
function listAt(source: string, open: number): readonly [items: readonly string[], rest: string] {
  const items: string[] = [];
  let [depth, start] = [0, open + 1];
  for (let at = open; at < source.length; at += 1) {
    depth += { "{": 1, "}": -1 }[source.charAt(at)] ?? 0;
    if (depth > 1 || (depth === 1 && source[at] !== ",")) continue;
    items.push(source.slice(start, at));
    start = at + 1;
    if (depth === 0) return [items, source.slice(start)];
  }
  return [[], ""];
}

const ASSIGNMENT = /^(?:<<|>>|[-+*/%&|^])?=$|^(?:\+\+|--)$/;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g;

/** Walks the commands inside an expression; the variables that it assigns become unknown. */
export function walkArithmetic(node: ArithmeticExpression, setting: Setting, walk: Walk): void {
  if (node.type === "ArithmeticWord")
    checkWord(node.value, node.parts && expandParts(node.parts, setting, walk).text, setting, walk);
  else if (node.type === "ArithmeticCommandExpansion") {
    if (node.script) evaluateText(walk.script(node.script, { ...setting, input: NO_INPUT }), setting, walk);
    else walk.record.add(askAlways(`The substitution ${node.text.slice(0, 60)} cannot be read`));
  } else {
    for (const child of Object.values(node)) if (typeof child === "object") walkArithmetic(child, setting, walk);
    if ("operator" in node && ASSIGNMENT.test(node.operator))
      forget("left" in node ? node.left : node.operand, setting);
  }
}

/** Variables whose assignment evaluates the value as arithmetic. */
const INTEGERS = new Set(["RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO"]);

/** True when an assignment to `name` evaluates the value as arithmetic. */
export function isInteger(name: string, { integers }: ShellState): boolean {
  return INTEGERS.has(name) || integers.has(name);
}

/** Evaluates text as arithmetic: a subscript, an integer, an operand. Asks when it may run a command: `a[$(rm x)]`. */
export function evaluateText(text: string, { state }: Setting, walk: Walk): void {
  if (hidesCommand(text, state, new Set())) {
    walk.record.add(opaque("Arithmetic evaluates a text that runs a command or is not known before it runs"));
  }
}

function hidesCommand(text: string, state: ShellState, seen: Set<string>): boolean {
  if (text.includes(UNKNOWN) || text.includes("$(") || text.includes("`") || text.includes("${")) return true;
  return hidesInNames(text, state, seen);
}

function hidesInNames(text: string, state: ShellState, seen: Set<string>): boolean {
  for (const [name] of text.matchAll(NAME)) {
    if (seen.has(name)) continue;
    seen.add(name);
    // The environment's own variables are the user's.
    if (state.variables.get(name)?.some((arg) => hidesCommand(arg.text, state, seen))) return true;
  }
  return false;
}

/** Checks one word of an expression: what quotes and substitutions bring into it is evaluated a second time. */
function checkWord(value: string, expanded: string | undefined, setting: Setting, walk: Walk): void {
  const { state } = setting;
  const brought = /\$[(\d@*]|`/.test(value) || /["']/.test(value);
  if (brought && expanded !== undefined && expanded !== value) evaluateText(expanded, setting, walk);
  else if (/\$\d/.test(value)) evaluateText(state.positional?.map(({ text }) => text).join(" ") ?? "", setting, walk);
  else if (hidesInNames(value, state, new Set())) evaluateText(UNKNOWN, setting, walk);
}

function forget(target: ArithmeticExpression, { state }: Setting): void {
  if (target.type !== "ArithmeticWord") return;
  const [name] = NAME[Symbol.match](target.value) ?? [];
  if (name !== undefined) state.variables.set(name, [knownArg(TOKEN)]);
}
