/** Expansion of `$x`, `${x:-y}`, `${x#y}` and their like, as far as the value is known. */
import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { sensitiveVariable } from "../rules/sensitive-variables.ts";
import { type Arg, isKnown, knownArg, TOKEN, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "./arg.ts";
import { evaluateText } from "./arithmetic.ts";
import { type Setting, variable, type Walk } from "./shell-state.ts";

export type Expansion = {
  readonly elements: readonly Arg[];
  /** In double quotes each element stays a word of its own (`"$@"`). */
  readonly separate: boolean;
};

export type ParameterContext = { readonly setting: Setting; readonly walk: Walk };

type Context = ParameterContext & {
  /** Expands a word within the expansion, without splitting. */
  readonly value: (word: Word) => Arg;
};

/** The value of `$name`. */
export function expandVariable(name: string, { state }: Setting): Expansion {
  if (name === "@" || name === "*") return { elements: state.positional ?? [UNKNOWN_ARGS], separate: name === "@" };
  return { elements: [scalar(name, state)], separate: false };
}

function scalar(name: string, state: Setting["state"]): Arg {
  if (/^[1-9]\d*$/.test(name)) {
    if (state.positional === undefined) return UNKNOWN_ARG;
    return state.positional[Number(name) - 1] ?? knownArg("");
  }
  if (/^[?#$!-]$/.test(name)) return knownArg(TOKEN);
  if (name === "_") return UNKNOWN_ARG;
  return variable(state, name)[0] ?? knownArg("");
}

/** The value of `${…}`; walks the commands inside it. */
export function expandParameter(part: ParameterExpansionPart, context: Context): Expansion {
  const base = baseOf(part, context);
  const { operation } = part;
  if (part.prefix === "#") return { elements: [knownArg(TOKEN)], separate: false };
  if (!operation) return base;
  if (operation.type === "Slice" && (part.parameter === "@" || part.parameter === "*" || base.separate)) {
    return sliceElements(base, operation, part.index ? 0 : 1, context);
  }
  const apply = operator(operation, part, context);
  return { ...base, elements: base.elements.map(apply) };
}

function baseOf(part: ParameterExpansionPart, context: Context): Expansion {
  const { state } = context.setting;
  const { parameter, index, prefix } = part;
  if (index) return indexed(parameter, index, context);
  if (prefix !== "!") return expandVariable(parameter, context.setting);
  if (part.operation?.type === "Names") return { elements: [UNKNOWN_ARGS], separate: false };
  // `${!x}`: the variable whose name x holds.
  const name = scalar(parameter, state);
  if (isKnown(name)) {
    if (name.text.includes("[")) evaluateText(name.text, context.setting, context.walk);
    return expandVariable(name.text, context.setting);
  }
  return { elements: [UNKNOWN_ARG], separate: false };
}

function indexed(name: string, index: Word, context: Context): Expansion {
  const { state } = context.setting;
  const elements = variable(state, name);
  // An unknown array may have any number of elements.
  const known = elements.every(isKnown);
  if (index.text === "@" || index.text === "*") {
    return { elements: known ? elements : [UNKNOWN_ARGS], separate: index.text === "@" };
  }
  const position = context.value(index);
  evaluateText(position.text, context.setting, context.walk);
  const missing = known ? knownArg("") : UNKNOWN_ARG;
  if (/^\d+$/.test(position.text)) return { elements: [elements[Number(position.text)] ?? missing], separate: false };
  const guess = elements[0]?.text;
  return { elements: [guess === undefined ? UNKNOWN_ARG : { ...UNKNOWN_ARG, guess }], separate: false };
}

/** Text of an offset or a length, which the shell evaluates as arithmetic. */
function integer(word: Word, context: Context): string {
  const { text } = context.value(word);
  evaluateText(text, context.setting, context.walk);
  return text;
}

type Operator = (value: Arg) => Arg;

function operator(operation: ParameterOperation, part: ParameterExpansionPart, context: Context): Operator {
  switch (operation.type) {
    case "Default":
      return withDefault(operation.operator, context.value(operation.operand), part, context);
    case "Remove":
      return transform(remover(operation.operator, patternOf(operation.operand, context)));
    case "Replace":
      return transform(
        replacer(operation.operator, patternOf(operation.pattern, context), patternOf(operation.replacement, context)),
      );
    case "Slice":
      return transform(
        slicer(integer(operation.offset, context), operation.length && integer(operation.length, context)),
      );
    case "CaseModification":
      return transform(caseChanger(operation.operator, operation.operand && context.value(operation.operand).text));
    case "Transform":
      return transformed(operation.operand.text, context);
    case "Names":
    case "Unknown":
      return () => UNKNOWN_ARGS;
  }
}

function withDefault(sign: string, operand: Arg, part: ParameterExpansionPart, { setting, walk }: Context): Operator {
  // `${x:?}` ends the shell when the value is empty.
  if (sign.endsWith("?")) return (value) => value;
  if (sign.endsWith("=")) {
    const reason = sensitiveVariable(part.parameter, operand);
    if (reason !== undefined) walk.record.askForCode(reason);
    setting.state.variables.set(part.parameter, [{ ...UNKNOWN_ARG, guess: operand.text }]);
  }
  const replaces = sign.endsWith("+");
  const whenEmpty = sign.startsWith(":");
  return (value) => {
    if (!isKnown(value)) {
      const guess = replaces ? operand.text : (value.guess ?? operand.guess ?? operand.text);
      return { ...UNKNOWN_ARG, guess, splits: value.splits };
    }
    const counts = value.text !== "" || !(whenEmpty || replaces);
    return counts === replaces ? operand : value;
  };
}

/** A pattern counts as one only where it is written without quotes and expansions. */
function patternOf(word: Word, context: Context): Pattern {
  const value = context.value(word);
  return { text: value.text, known: isKnown(value), bare: word.text === value.text };
}

/** Applies a change to a known value, and to the guess of an unknown one. */
function transform(change: Change): Operator {
  return (value) => {
    if (isKnown(value)) {
      const text = change(value.text);
      return text === undefined ? { ...UNKNOWN_ARG, splits: value.splits } : { ...value, text };
    }
    const guess = value.guess === undefined ? undefined : change(value.guess);
    const { guess: _, ...rest } = value;
    return { ...rest, text: UNKNOWN, ...(guess !== undefined && { guess }) };
  };
}

type Slice = Extract<ParameterOperation, { type: "Slice" }>;

/** `first` is the number of the first element: 1 for `$@` (0 is the shell's name), 0 for an array. */
function sliceElements(base: Expansion, operation: Slice, first: 0 | 1, at: Context): Expansion {
  const from = numberOf(integer(operation.offset, at));
  const count = operation.length ? numberOf(integer(operation.length, at)) : undefined;
  const open = base.elements.some((arg) => arg.splits);
  if (from === undefined || from < first || open || (operation.length && count === undefined)) {
    return { ...base, elements: [UNKNOWN_ARGS] };
  }
  const start = from - first;
  return { ...base, elements: base.elements.slice(start, count === undefined ? undefined : start + count) };
}

function transformed(letter: string, { walk }: Context): Operator {
  return (value) => {
    // A prompt string is expanded once more, with the commands in it.
    if (letter === "P" && (!isKnown(value) || /[$`]/.test(value.text))) {
      walk.record.askUnknown("A prompt string is expanded, which can run commands");
    }
    return transform(letterChanger(letter))(value);
  };
}

/** Result of `${x#…}`, `${x/…}`, `${x:…}` or `${x^…}` for a known text; undefined when it is not certain. */
type Change = (text: string) => string | undefined;

type Pattern = {
  readonly text: string;
  readonly known: boolean;
  /** Written without quotes and expansions, so that `*` in it is a wildcard. */
  readonly bare: boolean;
};

/** Longest texts that a pattern is matched against, and longest patterns (UTF-16 units). */
const MAX_MATCHED = 4096;
const MAX_PATTERN = 64;
const SPECIAL = /[*?[\\(]/;

/** `#`, `##`, `%`, `%%`. */
function remover(sign: string, pattern: Pattern): Change {
  const remove = sign.startsWith("%") ? fromEnd : fromStart;
  return (text) => {
    if (!pattern.known || pattern.text.length > MAX_PATTERN || text.length > MAX_MATCHED) return undefined;
    return remove(text, pattern, sign.length === 2);
  };
}

/** Removes from the start. Of the patterns with wildcards only `*x` is read. */
function fromStart(text: string, { text: pattern, bare }: Pattern, greedy: boolean): string | undefined {
  if (!SPECIAL.test(pattern)) return text.startsWith(pattern) ? text.slice(pattern.length) : text;
  const rest = pattern.slice(1);
  if (!bare || !pattern.startsWith("*") || rest === "" || SPECIAL.test(rest)) return undefined;
  const at = greedy ? text.lastIndexOf(rest) : text.indexOf(rest);
  return at < 0 ? text : text.slice(at + rest.length);
}

/** Removes from the end. Of the patterns with wildcards only `x*` is read. */
function fromEnd(text: string, { text: pattern, bare }: Pattern, greedy: boolean): string | undefined {
  if (!SPECIAL.test(pattern)) return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) : text;
  const rest = pattern.slice(0, -1);
  if (!bare || !pattern.endsWith("*") || rest === "" || SPECIAL.test(rest)) return undefined;
  const at = greedy ? text.indexOf(rest) : text.lastIndexOf(rest);
  return at < 0 ? text : text.slice(0, at);
}

/** `/`, `//`, `/#`, `/%`, for patterns without wildcards. */
function replacer(sign: string, pattern: Pattern, replacement: Pattern): Change {
  const plain = pattern.known && replacement.known && !/[*?[\\(&]/.test(pattern.text + replacement.text);
  const from = pattern.text;
  const to = replacement.text;
  return (text) => {
    if (!plain || from === "" || text.length > MAX_MATCHED || to.length > MAX_PATTERN) return undefined;
    if (sign === "//") return text.replaceAll(from, () => to);
    if (sign === "/") return text.replace(from, () => to);
    if (sign === "/#") return text.startsWith(from) ? to + text.slice(from.length) : text;
    return text.endsWith(from) ? text.slice(0, text.length - from.length) + to : text;
  };
}

/** `${x:offset:length}`. */
function slicer(offset: string, length: string | undefined): Change {
  return (text) => {
    const from = numberOf(offset);
    const count = length === undefined ? text.length : numberOf(length);
    if (from === undefined || count === undefined) return undefined;
    const start = from < 0 ? text.length + from : from;
    if (start < 0) return "";
    return count < 0 ? text.slice(start, text.length + count) : text.slice(start, start + count);
  };
}

/** A plain number; undefined for an arithmetic expression. */
function numberOf(text: string): number | undefined {
  const plain = text.trim();
  return /^-?(?:0|[1-9]\d{0,5})$/.test(plain) ? Number(plain) : undefined;
}

/** `^`, `^^`, `,`, `,,` without a pattern. */
function caseChanger(sign: string, pattern: string | undefined): Change {
  const change = (part: string) => (sign.startsWith("^") ? part.toUpperCase() : part.toLowerCase());
  return (text) => {
    if (pattern !== undefined && pattern !== "?") return undefined;
    return sign.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
  };
}

/** `@U`, `@L`; the other letters are not read. */
function letterChanger(letter: string): Change {
  return (text) => {
    if (letter === "U") return text.toUpperCase();
    return letter === "L" ? text.toLowerCase() : undefined;
  };
}
