/** `$x`, `${x:-y}`, `${x#y}` and their like, with the value as far as it is known. */
import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { type Arg, isKnown, knownArg, TOKEN, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "./arg.ts";
import { runsWhenEvaluated } from "./arithmetic.ts";
import { variable } from "./state.ts";
import type { Setting, Walk } from "./walk.ts";

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

/** Longest texts that a pattern is matched against. */
const MAX_MATCHED = 4096;
const MAX_PATTERN = 64;

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
    checkSubscript(name.text, context);
    return expandVariable(name.text, context.setting);
  }
  return { elements: [UNKNOWN_ARG], separate: false };
}

function indexed(name: string, index: Word, context: Context): Expansion {
  const elements = variable(context.setting.state, name);
  if (index.text === "@" || index.text === "*") return { elements, separate: index.text === "@" };
  const position = context.value(index);
  checkSubscript(position.text, context);
  for (const [inner] of position.text.matchAll(/[A-Za-z_]\w*/g))
    checkSubscript(scalar(inner, context.setting.state).text, context);
  if (/^\d+$/.test(position.text))
    return { elements: [elements[Number(position.text)] ?? knownArg("")], separate: false };
  const guess = elements[0]?.text;
  return { elements: [guess === undefined ? UNKNOWN_ARG : { ...UNKNOWN_ARG, guess }], separate: false };
}

/** A subscript is arithmetic: what it holds is evaluated once more. */
function checkSubscript(text: string, { walk }: Context): void {
  if (runsWhenEvaluated(text)) walk.record.askAlways("A subscript runs a command that is hidden in a text");
}

type Operator = (value: Arg) => Arg;

function operator(operation: ParameterOperation, part: ParameterExpansionPart, context: Context): Operator {
  switch (operation.type) {
    case "Default":
      return withDefault(operation.operator, context.value(operation.operand), part, context);
    case "Remove":
      return transform(remover(operation.operator, context.value(operation.operand)));
    case "Replace":
      return transform(
        replacer(operation.operator, context.value(operation.pattern), context.value(operation.replacement)),
      );
    case "Slice":
      return transform(slicer(context.value(operation.offset), operation.length && context.value(operation.length)));
    case "CaseModification":
      return transform(caseChanger(operation.operator, operation.operand && context.value(operation.operand)));
    case "Transform":
      return transformed(operation.operand.text, context);
    case "Names":
    case "Unknown":
      return () => UNKNOWN_ARGS;
  }
}

function withDefault(sign: string, operand: Arg, part: ParameterExpansionPart, { setting }: Context): Operator {
  const replaces = sign === "+" || sign === ":+";
  if (sign === "=" || sign === ":=")
    setting.state.variables.set(part.parameter, [{ ...UNKNOWN_ARG, guess: operand.text }]);
  return (value) => {
    if (isKnown(value)) {
      const set = value.text !== "";
      if (replaces) return set ? operand : value;
      return set || !sign.startsWith(":") ? value : operand;
    }
    const guess = replaces ? operand.text : (value.guess ?? operand.guess ?? operand.text);
    return { ...UNKNOWN_ARG, guess, splits: value.splits };
  };
}

type Change = (text: string) => string | undefined;

/** Applies a change to what is known, and to the guess where it is not. */
function transform(change: Change): Operator {
  return (value) => {
    if (isKnown(value)) {
      const text = change(value.text);
      if (text !== undefined) return { ...value, text };
      return { ...UNKNOWN_ARG, splits: value.splits };
    }
    const guess = value.guess === undefined ? undefined : change(value.guess);
    const { guess: _, ...rest } = value;
    return { ...rest, text: UNKNOWN, ...(guess !== undefined && { guess }) };
  };
}

function remover(sign: string, pattern: Arg): Change {
  const fromEnd = sign.startsWith("%");
  const greedy = sign.length === 2;
  return (text) => {
    if (!isKnown(pattern) || pattern.text.length > MAX_PATTERN || text.length > MAX_MATCHED) return undefined;
    const wild = /[*?[\\(]/.test(pattern.text);
    if (!wild) {
      if (fromEnd) return text.endsWith(pattern.text) ? text.slice(0, text.length - pattern.text.length) : text;
      return text.startsWith(pattern.text) ? text.slice(pattern.text.length) : text;
    }
    // `#*x`, `##*x`, `%x*`, `%%x*`: the common ones. Others are not worth the risk of reading them wrongly.
    const rest = fromEnd ? /^([^*?[\\(]+)\*$/.exec(pattern.text)?.[1] : /^\*([^*?[\\(]+)$/.exec(pattern.text)?.[1];
    if (rest === undefined) return undefined;
    if (fromEnd) {
      const at = greedy ? text.indexOf(rest) : text.lastIndexOf(rest);
      return at < 0 ? text : text.slice(0, at);
    }
    const at = greedy ? text.lastIndexOf(rest) : text.indexOf(rest);
    return at < 0 ? text : text.slice(at + rest.length);
  };
}

function replacer(sign: string, pattern: Arg, replacement: Arg): Change {
  return (text) => {
    const plain = isKnown(pattern) && isKnown(replacement) && !/[*?[\\(&]/.test(pattern.text + replacement.text);
    if (!plain || pattern.text === "") return undefined;
    if (sign === "//") return text.replaceAll(pattern.text, () => replacement.text);
    if (sign === "/") return text.replace(pattern.text, () => replacement.text);
    if (sign === "/#") return text.startsWith(pattern.text) ? replacement.text + text.slice(pattern.text.length) : text;
    const kept = text.length - pattern.text.length;
    return text.endsWith(pattern.text) ? text.slice(0, kept) + replacement.text : text;
  };
}

function slicer(offset: Arg, length: Arg | undefined): Change {
  return (text) => {
    const from = numberOf(offset);
    const count = length === undefined ? text.length : numberOf(length);
    if (from === undefined || count === undefined) return undefined;
    const start = from < 0 ? text.length + from : from;
    if (start < 0) return "";
    return count < 0 ? text.slice(start, text.length + count) : text.slice(start, start + count);
  };
}

function numberOf(arg: Arg): number | undefined {
  const text = arg.text.trim();
  return /^-?\d{1,6}$/.test(text) ? Number(text) : undefined;
}

type Slice = Extract<ParameterOperation, { type: "Slice" }>;

/** `first` is the number of the first element: 1 for `$@` (0 is the shell's name), 0 for an array. */
function sliceElements(base: Expansion, operation: Slice, first: 0 | 1, at: Context): Expansion {
  const from = numberOf(at.value(operation.offset));
  const count = operation.length ? numberOf(at.value(operation.length)) : undefined;
  const open = base.elements.some((arg) => arg.splits);
  if (from === undefined || from < first || open || (operation.length && count === undefined)) {
    return { ...base, elements: [UNKNOWN_ARGS] };
  }
  const start = from - first;
  return { ...base, elements: base.elements.slice(start, count === undefined ? undefined : start + count) };
}

function caseChanger(sign: string, operand: Arg | undefined): Change {
  return (text) => {
    if (operand !== undefined && operand.text !== "?") return undefined;
    const change = (part: string) => (sign.startsWith("^") ? part.toUpperCase() : part.toLowerCase());
    return sign.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
  };
}

function transformed(letter: string, { walk }: Context): Operator {
  return (value) => {
    // A prompt string is expanded once more, with the commands in it.
    if (letter === "P" && (!isKnown(value) || runsWhenEvaluated(value.text))) {
      walk.record.askAlways("A prompt string is expanded, which can run commands");
    }
    const change: Change = (text) =>
      letter === "U" ? text.toUpperCase() : letter === "L" ? text.toLowerCase() : undefined;
    return transform(change)(value);
  };
}
