/** Arithmetic assigns variables, and evaluates the text of variables again, with the substitutions in it. */

import type { ArithmeticExpression, WordPart } from "unbash";
import { askAlways, opaque } from "../command-effect.ts";
import { knownArg, TOKEN, UNKNOWN } from "./arg.ts";
import { NO_INPUT, type Setting, type ShellState, type Walk } from "./shell-state.ts";

const ASSIGNMENT = /^(?:<<|>>|[-+*/%&|^])?=$|^(?:\+\+|--)$/;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g;

type Expand = (parts: readonly WordPart[], setting: Setting, walk: Walk) => { readonly text: string };

/** Walks the commands inside an expression; the variables that it assigns become unknown. `expand`: reads a word in it. */
export function walkArithmetic(node: ArithmeticExpression, setting: Setting, walk: Walk, expand: Expand): void {
  if (node.type === "ArithmeticWord")
    checkWord(node.value, node.parts && expand(node.parts, setting, walk).text, setting, walk);
  else if (node.type === "ArithmeticCommandExpansion") {
    if (node.script) evaluateText(walk.script(node.script, { ...setting, input: NO_INPUT }), setting, walk);
    else walk.record.add(askAlways(`The substitution ${node.text.slice(0, 60)} cannot be read`));
  } else {
    for (const child of Object.values(node))
      if (typeof child === "object") walkArithmetic(child, setting, walk, expand);
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
