/** Assignments of variables. */
import type { Assignment } from "unbash";
import { readsSecrets } from "../command-effect.ts";
import { sensitiveVariable } from "../rules/sensitive-variables.ts";
import { type Arg, isKnown, knownArg, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { evaluateText, isInteger } from "./arithmetic.ts";
import { expandValue, expandWords } from "./expand-word.ts";
import { TooMuchToJudge } from "./recorder.ts";
import { runEffects } from "./run-effects.ts";
import { type Setting, variable, type Walk } from "./shell-state.ts";

/** Values that appending builds up; a longer one is as good as unknown (UTF-16 units). */
const MAX_VALUE = 8192;
/** Variables that one shell keeps: each branch and subshell copies them all. */
const MAX_VARIABLES = 100;

/** Carries out an assignment, and asks when the variable steers other programs. */
export function assign(assignment: Assignment, setting: Setting, walk: Walk): void {
  const { name, value, index, append } = assignment;
  if (index) {
    evaluateText(expandValue(index, setting, walk).text, setting, walk);
  }
  if (value.type === "ArrayValue") {
    const words = expandWords(value.elements, setting, walk);
    for (const { text } of words) evaluateText(keyOf(text), setting, walk);
    const elements = words.map(withoutKey);
    setVariable(name, append ? [...variable(setting.state, name), ...elements] : elements, setting, walk);
    return;
  }
  const text = expandValue(value, setting, walk);
  if (index) setVariable(name, element(variable(setting.state, name), index.text, text), setting, walk);
  else setVariable(name, append ? [joined(variable(setting.state, name)[0], text)] : [text], setting, walk);
}

/** Carries out `name=value` as the argument of a built-in; a bare name leaves the variable unchanged. */
export function assignText(arg: Arg, setting: Setting, walk: Walk): void {
  const match = /^([A-Za-z_]\w*)(\[[^\]]*\])?(\+)?=/.exec(arg.text);
  evaluateText(subscriptOf(arg.text), setting, walk);
  if (!match?.[1]) return;
  const value = knownArg(arg.text.slice(match[0].length));
  const [name, subscript, append] = [match[1], match[2], match[3]];
  const before = variable(setting.state, name);
  if (subscript) setVariable(name, element(before, subscript.slice(1, -1), value), setting, walk);
  else setVariable(name, append ? [joined(before[0], value)] : [value], setting, walk);
}

/** Sets a variable, and asks when it steers other programs. */
export function setVariable(name: string, elements: readonly Arg[], setting: Setting, walk: Walk): void {
  const { state } = setting;
  if (isInteger(name, state)) for (const { text } of elements) evaluateText(text, setting, walk);
  const reason = sensitiveVariable(name, elements[0] ?? knownArg(""));
  if (reason !== undefined) {
    walk.record.askForCode(reason);
    // A program that shows its settings prints the file, too.
    runEffects(readsSecrets(elements), setting, walk);
  }
  walk.record.variables.add(name);
  if (state.variables.size >= MAX_VARIABLES) throw new TooMuchToJudge();
  state.variables.set(name, elements);
}

/** Forgets variables whose value comes from outside: `read x`. */
export function forgetVariables(names: readonly Arg[], setting: Setting, walk: Walk): void {
  const { state } = setting;
  for (const name of names) {
    evaluateText(subscriptOf(name.text), setting, walk);
    if (isInteger(name.text, state)) evaluateText(UNKNOWN, setting, walk);
    const plain = name.text.replace(/\[.*$/, "");
    const reason = sensitiveVariable(plain, UNKNOWN_ARG);
    if (reason !== undefined) walk.record.askForCode(reason);
    if (isKnown(name)) state.variables.set(plain, [UNKNOWN_ARG]);
    else walk.record.askAlways("Sets a variable whose name is not known before it runs");
  }
}

function element(before: readonly Arg[], subscript: string, value: Arg): readonly Arg[] {
  const position = /^\d{1,3}$/.test(subscript) ? Number(subscript) : undefined;
  if (position === undefined || position > before.length) return [UNKNOWN_ARG];
  return before.toSpliced(position, 1, value);
}

function joined(before: Arg | undefined, added: Arg): Arg {
  const text = (before?.text ?? "") + added.text;
  return text.length > MAX_VALUE ? UNKNOWN_ARG : knownArg(text);
}

/** Key of an array's element: `[key]=value`. A key may hold brackets, and text after the last one is not part of it. */
function keyOf(text: string): string {
  return text.startsWith("[") ? text.slice(1, Math.max(text.lastIndexOf("]="), text.lastIndexOf("]+=")) + 1) : "";
}

function withoutKey(arg: Arg): Arg {
  const key = keyOf(arg.text);
  if (key === "") return arg;
  return { ...arg, text: arg.text.slice(key.length + 1).replace(/^\+?=/, "") };
}

/** Text from the first bracket on, where a name has a subscript: `a[x]=y`. */
function subscriptOf(text: string): string {
  const name = /^[^=]*?\[/.exec(text);
  if (!name) return text.includes(UNKNOWN) && !text.includes("=") ? text : "";
  const end = text.indexOf("]=");
  return end < 0 ? text.slice(name[0].length) : text.slice(name[0].length, end + 1);
}
