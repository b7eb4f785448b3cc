/** Expansion of words as in bash, as far as values are known before the command runs; walks the commands inside. */
import {
  type ArithmeticExpansionPart,
  type CommandExpansionPart,
  type DoubleQuotedChild,
  type ProcessSubstitutionPart,
  parse,
  type Word,
  type WordPart,
} from "unbash";
import { type Arg, knownArg, TOKEN, UNKNOWN, UNKNOWN_ARGS } from "./arg.ts";
import { walkArithmetic } from "./arithmetic.ts";
import { type Expansion, expandParameter, expandVariable, type ParameterContext } from "./expand-parameter.ts";
import { FieldBuilder } from "./field-builder.ts";
import { TooMuchToJudge } from "./recorder.ts";
import { forkState, NO_INPUT, type Output, type Setting, variable, type Walk } from "./shell-state.ts";

/** Shorter words are read whatever they hold (UTF-16 units). */
const LONG_WORD = 4096;
const MAX_TANGLES = 500;
const TILDE = /^~([A-Za-z0-9_.+-]*)(?=\/|$)/;

/** A tilde at the start of a word, or behind the sign of a word like an assignment: `of=~/x`. */
const BEFORE_TILDE = /^([A-Za-z_]\w*\+?=)?(?=~)/;

/** Words that `word` expands to: none, one or several. */
export function expandWord(word: Word, setting: Setting, walk: Walk): readonly Arg[] {
  return expand(word, { setting, walk, single: false });
}

/** All words of a list. */
export function expandWords(words: readonly Word[], setting: Setting, walk: Walk): readonly Arg[] {
  return words.flatMap((word) => expandWord(word, setting, walk));
}

/** Value of `word` where the shell neither splits nor matches: in assignments, `case`, `[[ ]]` and `<<<`. */
export function expandValue(word: Word, setting: Setting, walk: Walk): Arg {
  const [first, ...more] = expand(word, { setting, walk, single: true });
  if (!first) return knownArg("");
  return more.length === 0 ? first : { ...first, text: [first, ...more].map(({ text }) => text).join(" ") };
}

/** Text of a here-document. */
export function expandDocument(text: string, parts: readonly WordPart[] | undefined, at: ParameterContext): Arg {
  if (!parts) return knownArg(text);
  const fields = new FieldBuilder("", true);
  for (const part of parts) addPart(part, fields, { ...at, single: true });
  return fields.build()[0] ?? knownArg("");
}

type Mode = ParameterContext & { readonly single: boolean };

function expand(word: Word, mode: Mode): readonly Arg[] {
  const fields = expandPieces(word, mode);
  mode.walk.record.countWords(fields.length);
  return fields;
}

function expandPieces(word: Word, mode: Mode): readonly Arg[] {
  if (isTangled(word.text)) throw new TooMuchToJudge();
  const { parts } = word;
  if (!mode.single && parts?.some((part) => part.type === "BraceExpansion")) return expandBraced(word, parts, mode);
  const { state } = mode.setting;
  const fields = new FieldBuilder(variable(state, "IFS")[0]?.text ?? " \t\n", mode.single);
  if (!parts) {
    fields.quoted(BEFORE_TILDE.test(word.text) ? withTilde(word.text, word.value, mode) : word.value);
    return fields.build();
  }
  for (const [index, part] of parts.entries()) {
    const alone = index === 0 && part.type === "Literal" && BEFORE_TILDE.test(part.text);
    if (alone && (part.text.includes("/") || parts.length === 1)) fields.quoted(withTilde(part.text, part.value, mode));
    else addPart(part, fields, mode);
  }
  return fields.build();
}

/** A long word without quotes that consists of patterns and expansions: the parser takes it apart in quadratic time. */
function isTangled(text: string): boolean {
  return text.length > LONG_WORD && !/['"]/.test(text) && (text.match(/[*?[{$]/g)?.length ?? 0) > MAX_TANGLES;
}

/** Bash expands braces on the text and then reads each result as a word. */
function expandBraced(word: Word, parts: readonly WordPart[], mode: Mode): readonly Arg[] {
  const texts = expandBraces(word.text);
  if (texts === undefined) {
    walkParts(parts, mode);
    return [UNKNOWN_ARGS];
  }
  return texts.flatMap((text) => {
    const command = parse(`: ${text}`).commands[0]?.command;
    const suffix = command?.type === "Command" ? command.suffix : [];
    const only = suffix[0];
    if (only?.type !== "Word") return text === "" ? [] : [UNKNOWN_ARGS];
    // A remaining brace is a literal one.
    const fields = new FieldBuilder(" \t\n", false);
    for (const part of only.parts ?? []) addPart(part, fields, mode);
    const expanded = only.parts ? fields.build() : [knownArg(withTilde(only.text, only.value, mode))];
    return suffix.length === 1 ? expanded : [UNKNOWN_ARGS];
  });
}

/** Expands `~`, `~/x`, `~+` and `~user`. `written` keeps the escapes: `\~` is not a home. */
function withTilde(written: string, value: string, mode: Mode): string {
  const name = BEFORE_TILDE.exec(written)?.[1] ?? "";
  if (name !== "") return name + withTilde(written.slice(name.length), value.slice(name.length), mode);
  const match = TILDE.exec(written);
  if (!match) return value;
  const { state } = mode.setting;
  const rest = value.slice(match[0].length);
  const user = match[1] ?? "";
  if (user === "") return `${variable(state, "HOME")[0]?.text ?? UNKNOWN}${rest}`;
  if (user === "+") return `${variable(state, "PWD")[0]?.text ?? UNKNOWN}${rest}`;
  if (user === "-") return `${variable(state, "OLDPWD")[0]?.text ?? UNKNOWN}${rest}`;
  if (/^[+-]?\d+$/.test(user)) return UNKNOWN;
  return `${user === "root" ? "/root" : `/home/${user}`}${rest}`;
}

function addPart(part: WordPart, fields: FieldBuilder, mode: Mode): void {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      fields.quoted(part.value);
      return;
    case "DoubleQuoted":
    case "LocaleString":
      fields.quoted("");
      for (const child of part.parts) addQuoted(child, fields, mode);
      return;
    case "Glob":
      walkParts(part.parts ?? [], mode);
      fields.glob(part.value);
      return;
    case "ExtendedGlob":
      walkParts(part.parts ?? [], mode);
      fields.glob("*");
      return;
    case "BraceExpansion":
      walkParts(part.parts ?? [], mode);
      fields.quoted(part.text);
      return;
    case "ProcessSubstitution":
      fields.substitution(substituted(part, mode));
      return;
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
      addUnquoted(expansionOf(part, mode).elements, fields);
  }
}

function addUnquoted(elements: readonly Arg[], fields: FieldBuilder): void {
  for (const [index, arg] of elements.entries()) {
    if (index > 0) fields.separate();
    fields.unquoted(arg);
  }
}

function addQuoted(part: DoubleQuotedChild, fields: FieldBuilder, mode: Mode): void {
  if (part.type === "Literal") {
    fields.quoted(part.value);
    return;
  }
  const { elements, separate } = expansionOf(part, mode);
  if (separate) {
    fields.elements(elements);
    return;
  }
  for (const [index, arg] of elements.entries()) {
    if (index > 0) fields.quoted(" ");
    fields.value(arg);
  }
}

type Expanding = Extract<
  DoubleQuotedChild,
  { type: "SimpleExpansion" | "ParameterExpansion" | "CommandExpansion" | "ArithmeticExpansion" }
>;

function expansionOf(part: Expanding, mode: Mode): Expansion {
  switch (part.type) {
    case "SimpleExpansion":
      return expandVariable(part.text.slice(1), mode.setting);
    case "ParameterExpansion":
      return expandParameter(part, { ...mode, value: (word) => expandValue(word, mode.setting, mode.walk) });
    case "CommandExpansion":
      return { elements: [knownArg(printed(part, mode).replace(/\n+$/, ""))], separate: false };
    case "ArithmeticExpansion":
      return { elements: [knownArg(calculated(part, mode))], separate: false };
  }
}

/** True when the parser ended a substitution too early, at a delimiter around it: `${x/$(rm /)/y}`. */
function isCutShort(text: string): boolean {
  return !/[)`}]$/.test(text);
}

/** Output of a command substitution. */
function printed(part: CommandExpansionPart, { setting, walk }: Mode): string {
  const { script } = part;
  if (!script || isCutShort(part.text)) {
    walk.record.askAlways(`The substitution ${part.text.slice(0, 60)} cannot be read`);
    return UNKNOWN;
  }
  const inner = { ...setting, state: forkState(setting.state), input: NO_INPUT };
  // `${ …; }` runs in this shell; other substitutions run in a subshell.
  const own = part.text.startsWith("${") ? { ...inner, state: setting.state } : inner;
  return walk.record.nested(() => walk.script(script, own));
}

function calculated(part: ArithmeticExpansionPart, mode: Mode): string {
  if (part.expression)
    walkArithmetic(part.expression, mode.setting, mode.walk, (inner) => expandDocument("", inner, mode).text);
  return TOKEN;
}

function substituted(part: ProcessSubstitutionPart, { setting, walk }: Mode): Output {
  const { script } = part;
  if (!script || isCutShort(part.text)) {
    walk.record.askAlways(`The substitution ${part.text.slice(0, 60)} cannot be read`);
    return UNKNOWN;
  }
  const input = part.operator === ">" ? ({ kind: "data", from: "another command" } as const) : NO_INPUT;
  const inner = { ...setting, state: forkState(setting.state), input, parallel: true };
  return walk.record.nested(() => walk.script(script, inner));
}

/** Walks the commands inside parts whose value is not needed. */
function walkParts(parts: readonly WordPart[], mode: Mode): void {
  for (const part of parts) addPart(part, new FieldBuilder("", true), mode);
}

/** A word whose braces expand to more words than this is unknown. */
const MAX_WORDS = 200;
/** Longer words (UTF-16 units) are not taken apart: the search for the braces' ends is quadratic. */
const MAX_BRACED = 2000;
/** A text in quotes, an escape, or a parameter in which no brace expands. */
const SOLID = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|\$\{[^}]*\}|[\s\S]/gy;

/** Words that bash makes of the braces in the source text of one word, before every other expansion; undefined for a sequence, too many words or too long a text. */
function expandBraces(source: string): readonly string[] | undefined {
  if (source.length > MAX_BRACED) return undefined;
  const pieces = source.match(SOLID) ?? [];
  const braces = [...pieces.keys()].filter((at) => pieces[at] === "{").map((at) => ({ at, ...itemsFrom(pieces, at) }));
  const first = braces.find(({ items = [] }) => items.length > 1 || items[0]?.includes("..") === true);
  if (first?.items === undefined) return [source];
  if (first.items.length === 1) return undefined;
  const before = pieces.slice(0, first.at).join("");
  const tails = expandBraces(pieces.slice(first.end).join(""));
  const middles = first.items.map(expandBraces);
  if (tails === undefined || middles.includes(undefined)) return undefined;
  const words = middles.flatMap((each = []) => each.flatMap((middle) => tails.map((tail) => before + middle + tail)));
  return words.length > MAX_WORDS ? undefined : words;
}

/** Texts between the commas of the brace at `start`, and the position after it; undefined for one without an end. */
function itemsFrom(pieces: readonly string[], start: number) {
  const items = [""];
  let depth = 0;
  for (let at = start; at < pieces.length; at += 1) {
    const piece = pieces[at] ?? "";
    if (piece === "}" && depth === 1) return { items, end: at + 1 };
    if (piece === "," && depth === 1) items.push("");
    else if (depth > 0) items[items.length - 1] += piece;
    if (piece === "{") depth += 1;
    else if (piece === "}") depth -= 1;
  }
  return undefined;
}
