/** Expansion of `$x`, `${x:-y}`, `${x#y}` and their like, as far as the value is known. */
import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { sensitiveVariable } from "../rules/sensitive-variables.ts";
import { type Arg, isKnown, knownArg, TOKEN, UNKNOWN_ARG, UNKNOWN_ARGS } from "./arg.ts";
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
  return { ...base, elements: operated(operation, part, base, context) };
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
  const elements = variable(context.setting.state, name);
  const known = elements.every(isKnown);
  if (index.text === "@" || index.text === "*") {
    return { elements: known ? elements : [UNKNOWN_ARGS], separate: index.text === "@" };
  }
  const { text } = context.value(index);
  evaluateText(text, context.setting, context.walk);
  const missing = known ? knownArg("") : UNKNOWN_ARG;
  return { elements: [/^\d+$/.test(text) ? (elements[Number(text)] ?? missing) : UNKNOWN_ARG], separate: false };
}

/** Value with an operation. Its words are walked for the commands in them; only a default of a known value is known. */
function operated(operation: ParameterOperation, part: ParameterExpansionPart, base: Expansion, context: Context) {
  const unread = base.elements.map(({ splits }) => ({ ...UNKNOWN_ARG, splits }));
  switch (operation.type) {
    case "Default":
      return base.elements.map(withDefault(operation.operator, context.value(operation.operand), part, context));
    case "Remove":
      context.value(operation.operand);
      return unread;
    case "Replace":
      context.value(operation.pattern);
      context.value(operation.replacement);
      return unread;
    case "Slice":
      for (const word of [operation.offset, operation.length])
        if (word) evaluateText(context.value(word).text, context.setting, context.walk);
      return base.separate || /^[@*]$/.test(part.parameter) ? [UNKNOWN_ARGS] : unread;
    case "CaseModification":
      if (operation.operand) context.value(operation.operand);
      return unread;
    case "Transform":
      // A prompt string is expanded once more, with the commands in it.
      if (operation.operand.text === "P")
        context.walk.record.askUnknown("A prompt string is expanded, which can run commands");
      return unread;
    case "Names":
    case "Unknown":
      return [UNKNOWN_ARGS];
  }
}

function withDefault(sign: string, operand: Arg, part: ParameterExpansionPart, { setting, walk }: Context) {
  if (sign.endsWith("=")) {
    const reason = sensitiveVariable(part.parameter, operand);
    if (reason !== undefined) walk.record.askForCode(reason);
    setting.state.variables.set(part.parameter, [UNKNOWN_ARG]);
  }
  const replaces = sign.endsWith("+");
  const whenEmpty = sign.startsWith(":");
  return (value: Arg): Arg => {
    // `${x:?}` ends the shell when the value is empty.
    if (sign.endsWith("?")) return value;
    if (!isKnown(value)) return { ...UNKNOWN_ARG, splits: value.splits };
    const counts = value.text !== "" || !(whenEmpty || replaces);
    return counts === replaces ? operand : value;
  };
}
