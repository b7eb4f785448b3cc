/** Walk through one simple command: its words, variables, redirections, and the effects of its program. */
import { join } from "node:path";
import type { Assignment, Command, Redirect, Redirection, Word } from "unbash";
import { repositoryOf } from "../../host/git-layout.ts";
import { pathBelow } from "../../platform/paths.ts";
import {
  askAlways,
  askForCode,
  block,
  type Call,
  CHANGE,
  type CommandEffect,
  type Input,
  opaque,
  type Program,
} from "../command-effect.ts";
import { homeOf, placeOf } from "../command-scope.ts";
import { foreignParts, linkedParts } from "../git-folders.ts";
import { filesChangedBy } from "../git-guard.ts";
import { isInBareRepository, programOfRepository } from "../repository.ts";
import { codePrograms, wrappers } from "../rules/code.ts";
import { filePrograms } from "../rules/files.ts";
import { gits } from "../rules/git-rules.ts";
import { plainReaders, readers } from "../rules/looks.ts";
import { isConventional, packageManagers, projectTools, tool } from "../rules/project-tools.ts";
import { waysOut } from "../rules/ways-out.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { assign } from "./assignments.ts";
import { builtins, declarations, isDecodingText, knownOutput, persistent } from "./builtins.ts";
import { expandParts, expandValue, expandWord } from "./expand-word.ts";
import { judgeTarget, runEffects } from "./run-effects.ts";
import { forkState, type Output, type Setting, type Walk } from "./shell-state.ts";
import { judgeUnread } from "./unread-words.ts";

const MAX_ROUNDS = 3;

const tables = [readers, filePrograms, gits, codePrograms, projectTools, packageManagers, waysOut];
/** Every known program by name. */
const rules: ReadonlyMap<string, Program> = new Map([...tables, wrappers].flatMap((table) => [...table]));

export function walkCommand(node: Command, setting: Setting, walk: Walk): Output {
  walk.record.countStep();
  const words = wordsOf(node, setting, walk);
  const assignments = node.prefix.filter((item) => item.type === "Assignment");
  const { state } = setting;
  const before = assignments.length > 0 ? forkState(state) : state;
  const { input, captured } = redirect(node.redirects, setting, walk);
  for (const assignment of assignments) assignPrefix(assignment, words, setting, walk);
  if (words.length === 0) return node.redirects.length > 0 ? UNKNOWN : "";
  const output = walk.command(words, { ...setting, input: input ?? setting.input });
  restore(assignments, words, before, setting);
  return captured ? "" : output;
}

/** `IFS= read` changes the splitting of that one line only. */
function assignPrefix(assignment: Assignment, words: readonly Arg[], setting: Setting, walk: Walk): void {
  if (assignment.name === "IFS" && words[0]?.text === "read") return;
  assign(assignment, setting, walk);
}

/** Restores variables that were set for one command; some built-ins keep them in some shells. */
function restore(
  assignments: readonly Assignment[],
  words: readonly Arg[],
  before: Setting["state"],
  { state }: Setting,
): void {
  for (const { name } of assignments) {
    const value = persistent.has(words[0]?.text ?? "") ? [UNKNOWN_ARG] : before.variables.get(name);
    if (value) state.variables.set(name, value);
    else state.variables.delete(name);
  }
}

function wordsOf(node: Command, setting: Setting, walk: Walk): readonly Arg[] {
  const words: Arg[] = node.name ? [...expandWord(node.name, setting, walk)] : [];
  const declares = declarations.has(words[0]?.text ?? "");
  let end = node.name?.end;
  for (const item of node.suffix) {
    if (item.type === "Word") words.push(...expandWord(item, setting, walk));
    else if (item.type === "Assignment") words.push(...assignmentWord(item, declares, setting, walk));
    // The parser ends a word before `<(…)`, and bash does not.
    if (item.type === "Word" && item.pos === end) words.splice(-2, 2, UNKNOWN_ARG);
    end = item.end;
  }
  return words;
}

/** `name=value` after a built-in: an array is assigned here, any other value stays a word of the built-in. */
function assignmentWord(item: Assignment, declares: boolean, setting: Setting, walk: Walk): readonly Arg[] {
  const value: Word | Assignment["value"] = item.value;
  if (value.type === "ArrayValue") {
    assign(item, setting, walk);
    return [knownArg(item.name)];
  }
  // A declaration splits no value, and expands braces as any other word does.
  const isBraced = value.parts?.some(({ type }) => type === "BraceExpansion") === true;
  const isOne = declares && !isBraced;
  const [first = knownArg(""), ...more] = isOne
    ? [expandValue(value, setting, walk)]
    : expandWord(value, setting, walk);
  const sign = item.append ? "+=" : "=";
  const subscript = item.index ? `[${expandValue(item.index, setting, walk).text}]` : "";
  const start = `${item.name}${subscript}${sign}`;
  const named = (arg: Arg): Arg => ({ ...arg, text: start + arg.text });
  return [named(first), ...(isBraced ? more.map(named) : more)];
}

export function walkWords(words: readonly Arg[], setting: Setting, walk: Walk): Output {
  const [word, ...args] = words;
  if (!word) return "";
  const { record } = walk;
  if (!isKnown(word) || word.glob || word.content !== undefined) {
    return record.part(shown(word), words, setting.state.cwds, () => {
      record.add(opaque(`The command word ${shown(word)} is not known before it runs`));
      return UNKNOWN;
    });
  }
  return record.part(word.text, words, setting.state.cwds, () => runNamed(word.text, args, setting, walk));
}

function runNamed(name: string, args: readonly Arg[], setting: Setting, walk: Walk): Output {
  const { state } = setting;
  const call: Call = { name, args: args.map((arg) => withInput(arg, setting.input)), input: setting.input };
  if (call.input.kind === "text") walk.record.noteInput(call.input.text);
  const run = state.functions.has(name) ? callFunction : (builtins.get(name) ?? walkProgram);
  return run(call, setting, walk);
}

const STANDARD_INPUT = /^\/(?:dev\/(?:stdin|fd\/0)|proc\/(?:self|thread-self)\/fd\/0)$/;

/** A word that names the standard input holds that input: `bash /dev/stdin <<< code`. */
function withInput(arg: Arg, input: Input): Arg {
  if (input.kind === "none" || !STANDARD_INPUT.test(arg.text)) return arg;
  return { ...arg, content: input.kind === "text" ? input.text : UNKNOWN };
}

function callFunction(call: Call, setting: Setting, walk: Walk): Output {
  const { state, calls } = setting;
  const body = state.functions.get(call.name);
  if (body === undefined) {
    walk.record.add(askAlways(`${call.name} is a function that is not known before it runs`));
    return UNKNOWN;
  }
  const rounds = calls.filter((running) => running === body).length;
  if (rounds > 0 && setting.parallel) {
    walk.record.add(block(`${call.name} starts copies of itself without end, which halts the machine`));
    return UNKNOWN;
  }
  if (rounds >= MAX_ROUNDS) {
    walk.record.add(opaque(`${call.name} calls itself, and its later rounds are not known before they run`));
    return UNKNOWN;
  }
  const { positional } = state;
  state.positional = call.args;
  const parallel = calls.length > 0 && setting.parallel;
  const output = walk.record.nested(() => walk.body(body, { ...setting, parallel, calls: [...calls, body] }));
  state.positional = positional;
  return output;
}

/** Walks a call of a program, which is no built-in and no function of the shell. */
export function walkProgram(call: Call, setting: Setting, walk: Walk): Output {
  const { name, trusted, isOfProject } = locate(call.name);
  const program = rules.get(name);
  if (isDecodingText({ ...call, name })) walk.record.markDecoding();
  // The file may hold anything, whatever its name promises.
  if (isOfProject) walk.record.markProject();
  if (program && trusted) return isHelp(call.args) ? UNKNOWN : runKnown(program, { ...call, name }, setting, walk);
  const unknown = programFile(call);
  runEffects(unknown, setting, walk);
  judgeUnread(call, unknown, setting, walk);
  return UNKNOWN;
}

function runKnown(program: Program, call: Call, setting: Setting, walk: Walk): Output {
  const { record } = walk;
  if (call.name === "git") {
    checkRepository(setting, walk);
    checkTree(call, setting, walk);
  }
  const before = record.findings.length;
  const effects = program(call);
  const output = runEffects(effects, setting, walk);
  // Such a folder is read in the sandbox, and written outside of it.
  if (call.name === "git" && effects.includes(CHANGE) && setting.state.cwds?.some((cwd) => isLinked(cwd, walk)))
    record.needs("outside");
  judgeUnread(call, effects, setting, walk);
  // Unknown words may be options that no rule has examined.
  const mayBeOptions = call.args.some((arg) => arg.splits && arg.text.includes(UNKNOWN));
  if (mayBeOptions && !plainReaders.has(call.name) && record.findings.length === before) {
    record.add(
      askForCode(`Runs ${call.name} with words that are not known before it runs, which may be options`, "never"),
    );
  }
  const printed = knownOutput(call);
  return printed === UNKNOWN ? output : printed;
}

function isLinked(cwd: string, { scope }: Walk): boolean {
  const top = repositoryOf(scope.resolvePath(cwd), homeOf(scope));
  return top !== undefined && linkedParts(join(top, ".git"), scope).length > 0;
}

/** A checkout may bring a bare repository, whose settings name programs, and a repository may name parts of any other one. */
function checkRepository({ state }: Setting, { scope, record }: Walk): void {
  const tops = (state.cwds ?? []).map((cwd) => repositoryOf(scope.resolvePath(cwd), homeOf(scope)));
  const foreign = tops.flatMap((top) => (top === undefined ? [] : foreignParts(top, scope)));
  if (foreign.length > 0) record.needs("outside");
  record.noteSecrets(foreign, "history");
  const program = state.cwds?.map(programOfRepository).find((found) => found !== undefined);
  if (program !== undefined)
    record.add(askForCode(`git starts a program of this repository, which ${program} names`, "prefix"));
  const bare = state.cwds?.find((cwd) =>
    isInBareRepository(scope.resolvePath(cwd), scope.resolvePath(scope.roots[0] ?? scope.cwd)),
  );
  if (bare !== undefined)
    record.add(opaque(`git uses the settings of the bare repository in ${bare}, which can run programs`));
}

const MAX_NAMED = 8;

/** A command whose words or folder are not known is judged by the guard, where it runs. */
function checkTree({ args }: Call, { state }: Setting, { scope, record }: Walk): void {
  const [cwd, ...more] = state.cwds ?? [];
  const isElsewhere = /^(?:-C|--git-dir|--work-tree)/.test(args[0]?.text ?? "");
  if (cwd === undefined || more.length > 0 || !args.every(isKnown) || isElsewhere) return;
  const words = args.map(({ text }) => text);
  const paths = filesChangedBy(words, cwd, scope);
  if (paths.length === 0) return;
  const isOutside = paths.some((path) => placeOf(path, scope).kind !== "workspace");
  const names = paths.slice(0, MAX_NAMED).map((path) => pathBelow(scope.resolvePath(cwd), path) ?? path);
  const rest = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
  const what = `protected files${isOutside ? " or files outside the workspace" : ""}`;
  record.add(askAlways(`Changes ${what}: ${names.join(", ")}${rest}`));
  if (isOutside) record.needs("outside");
  for (const path of paths) record.treeFiles.add(path);
}

function isHelp(args: readonly Arg[]): boolean {
  return args.length === 1 && (args[0]?.text === "--version" || args[0]?.text === "--help");
}

const DESCRIPTOR = /^(?:\d+-?|-)$/;

/** Judges redirections: the input that they give, and `captured` when the output goes into a file. */
export function redirect(redirections: readonly Redirection[], setting: Setting, walk: Walk) {
  let input: Input | undefined;
  let captured = false;
  for (const redirection of redirections) {
    if (redirection.type !== "Redirect") {
      input = textInput(redirection, setting, walk);
      continue;
    }
    if (redirectFile(redirection, setting, walk)) input = { kind: "data", from: redirection.target?.text ?? "a file" };
    const descriptor = redirection.descriptor?.type === "FileDescriptor" ? redirection.descriptor.value : 1;
    captured ||= redirection.operator.includes(">") && descriptor !== 2;
  }
  return { input, captured };
}

function textInput(redirection: Exclude<Redirection, Redirect>, setting: Setting, walk: Walk): Input {
  if (redirection.type === "HereDoc") {
    const { text, parts } = redirection.body;
    return { kind: "text", text: parts ? expandParts(parts, setting, walk).text : text };
  }
  const { target } = redirection;
  const text = target ? expandValue(target, setting, walk).text : "";
  return text === UNKNOWN ? { kind: "data", from: target?.text ?? "" } : { kind: "text", text };
}

/** Judges one redirection; true when the command reads from it. */
function redirectFile({ operator, target }: Redirect, setting: Setting, walk: Walk): boolean {
  if (!target) {
    walk.record.add(askAlways("A redirection has no target"));
    return false;
  }
  const words = expandWord(target, setting, walk);
  const path = words.length === 1 ? (words[0] ?? UNKNOWN_ARG) : UNKNOWN_ARG;
  if (operator.endsWith("&") && DESCRIPTOR.test(path.text)) return operator === "<&";
  if (operator.includes("<")) judgeTarget({ kind: "read", path }, setting, walk);
  if (operator.includes(">")) judgeTarget({ kind: "write", path }, setting, walk);
  return operator.startsWith("<");
}

const SYSTEM_FOLDERS = /^(?:\/usr(?:\/local)?)?\/s?bin\/|^\/opt\/homebrew\/bin\/|^\/opt\/local\/bin\//;
/** Folders of the project whose programs a package manager installed. */
const PROJECT_FOLDERS = /^(?:\.\/)?(?:[\w@.-]+\/)*(?:node_modules\/\.bin|vendor\/bin|\.?venv\/bin)\//;
const WRAPPERS = /^\.\/(?:gradlew|mvnw)$/;

/** `trusted`: the path leads to the program of that name; false for `./ls`. */
function locate(word: string) {
  const slash = word.lastIndexOf("/");
  const name = word.slice(slash + 1).replace(/\.exe$/i, "");
  if (slash < 0) return { name, trusted: true, isOfProject: false };
  const climbs = word.split("/").includes("..");
  const isOfProject = !climbs && [PROJECT_FOLDERS, WRAPPERS].some((place) => place.test(word));
  return { name, trusted: isOfProject || (!climbs && SYSTEM_FOLDERS.test(word)), isOfProject };
}

/** A file of the project may be a shell script, which is read. */
function programFile(call: Call): readonly CommandEffect[] {
  const otherwise = unknownProgram(call);
  if (!call.name.includes("/")) return otherwise;
  return [{ kind: "script", source: { of: "file", path: knownArg(call.name) }, positional: call.args, otherwise }];
}

/** Programs that an unknown one may start with the rest of its words: `setpriv rm -rf x`. */
const LOSSES = /^(?:rm|shred|dd|find|chmod|chown|mkfs\S*|(?:ba|da|z)?sh)$/;

function unknownProgram(call: Call): readonly CommandEffect[] {
  const { name, args, input } = call;
  const [first] = args;
  const file = name.includes("/");
  if (!file && isHelp(args)) return [];
  if (!file && isConventional(call)) return tool(call);
  const what = file ? `Runs the program ${name}` : `Runs ${name}, a program that is not known`;
  const named = first === undefined || (isKnown(first) && /^[a-z][\w:-]*$/.test(first.text));
  const at = args.findIndex(({ text }) => LOSSES.test(text));
  const started: readonly CommandEffect[] = at < 0 ? [] : [{ kind: "command", words: args.slice(at), input }];
  return [askForCode(what, named && !file ? "prefix" : "exact"), ...started];
}
