/** Assignments of variables. */
import { basename } from "node:path";
import type { Assignment } from "unbash";
import { askAlways, reads } from "../command-effect.ts";
import { judgeVariable } from "../rules/sensitive-variables.ts";
import { isSecretName } from "../secret-paths.ts";
import { type Arg, isKnown, knownArg, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "./arg.ts";
import { evaluateText, expandValue, expandWords, isInteger } from "./expand-word.ts";
import { TooMuchToJudge } from "./recorder.ts";
import { runEffects } from "./run-effects.ts";
import { isNumber, type Setting, variable, type Walk } from "./shell-state.ts";

/** Values that appending builds up; a longer one is as good as unknown (UTF-16 units). */
const MAX_VALUE = 8192;
/** Variables that one shell keeps: each branch and subshell copies them all. */
const MAX_VARIABLES = 100;

export function assign(assignment: Assignment, setting: Setting, walk: Walk): void {
  const { name, value, index, append } = assignment;
  if (index) {
    evaluateText(expandValue(index, setting, walk).text, setting, walk);
  }
  if (value.type === "ArrayValue") {
    const words = expandWords(value.elements, setting, walk);
    // `[key]=value`: a key is evaluated, and the order of the elements is not known.
    const keyed = words.filter(({ text }) => text.startsWith("["));
    for (const { text } of keyed) evaluateText(text, setting, walk);
    const elements = keyed.length > 0 ? [UNKNOWN_ARGS] : words;
    setVariable(name, append ? [...variable(setting.state, name), ...elements] : elements, setting, walk);
    return;
  }
  const text = expandValue(value, setting, walk);
  if (index) setVariable(name, [UNKNOWN_ARGS], setting, walk);
  else setVariable(name, append ? [joined(variable(setting.state, name)[0], text)] : [text], setting, walk);
}

/** Carries out `name=value` as the argument of a built-in; a bare name leaves the variable unchanged. */
export function assignText(arg: Arg, setting: Setting, walk: Walk): void {
  const match = /^([A-Za-z_]\w*)(\[[^\]]*\])?(\+)?=/.exec(arg.text);
  evaluateText(subscriptOf(arg.text), setting, walk);
  const kept = setting.state.variables.get(arg.text);
  if (kept !== undefined && isInteger(arg.text, setting.state)) setVariable(arg.text, kept, setting, walk);
  if (!match?.[1]) return;
  const text = arg.text.slice(match[0].length);
  // A variable that is an array takes it for its elements.
  const value = text.startsWith("(") ? UNKNOWN_ARGS : knownArg(text);
  const [name, subscript, append] = [match[1], match[2], match[3]];
  const before = variable(setting.state, name);
  if (subscript) setVariable(name, [UNKNOWN_ARGS], setting, walk);
  else setVariable(name, append ? [joined(before[0], value)] : [value], setting, walk);
}

export function setVariable(name: string, elements: readonly Arg[], setting: Setting, walk: Walk): void {
  const { state } = setting;
  const isChanged = isInteger(name, state);
  if (isChanged) for (const { text } of elements) evaluateText(text, setting, walk);
  // A program that shows its settings prints the file, too.
  const secrets = elements.filter(({ text }) => isSecretName(basename(text)));
  if (judgeVariable(name, elements[0] ?? knownArg(""), walk.record)) runEffects(reads(secrets), setting, walk);
  if (state.variables.size >= MAX_VARIABLES) throw new TooMuchToJudge();
  state.variables.set(name, isChanged && !isNumber(elements) ? [UNKNOWN_ARG] : elements);
}

/** Forgets variables whose value comes from outside: `read x`. */
export function forgetVariables(names: readonly Arg[], setting: Setting, walk: Walk): void {
  const { state } = setting;
  for (const name of names) {
    evaluateText(subscriptOf(name.text), setting, walk);
    if (isInteger(name.text, state)) evaluateText(UNKNOWN, setting, walk);
    const plain = name.text.replace(/\[.*$/, "");
    judgeVariable(plain, UNKNOWN_ARG, walk.record);
    if (isKnown(name)) state.variables.set(plain, [UNKNOWN_ARG]);
    else walk.record.add(askAlways("Sets a variable whose name is not known before it runs"));
  }
}

function joined(before: Arg | undefined, added: Arg): Arg {
  const text = (before?.text ?? "") + added.text;
  return text.length > MAX_VALUE ? UNKNOWN_ARG : knownArg(text);
}

/** Text from the first bracket on, where a name has a subscript: `a[x]=y`. */
function subscriptOf(text: string): string {
  const name = /^[^=]*?\[/.exec(text);
  if (!name) return text.includes(UNKNOWN) && !text.includes("=") ? text : "";
  const end = text.indexOf("]=");
  return end < 0 ? text.slice(name[0].length) : text.slice(name[0].length, end + 1);
}
