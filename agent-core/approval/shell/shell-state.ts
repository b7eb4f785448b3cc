/** State of a shell between commands, and the setting that a piece of code runs in. */
import { tmpdir } from "node:os";
import type { CompoundCommand, CompoundList, ParsedScript, Redirected } from "unbash";
import type { Input } from "../command-effect.ts";
import type { CommandScope } from "../command-scope.ts";
import { type Arg, knownArg, TOKEN, UNKNOWN_ARG } from "./arg.ts";
import type { Recorder } from "./recorder.ts";

export type FunctionBody = CompoundCommand | Redirected | CompoundList;

export type ShellState = {
  /** Assigned variables; an array has several elements. An absent variable has the environment's value. */
  variables: Map<string, readonly Arg[]>;
  /** Folders that the shell may be in; undefined when they are not known. */
  cwds: readonly string[] | undefined;
  /** Folders that the shell is in when a `cd` of this statement failed; undefined when they are not known. */
  abandoned: readonly string[] | undefined;
  /** Variables whose values the shell changes: it evaluates them as arithmetic, or folds their case. */
  integers: ReadonlySet<string>;
  /** Functions by name; undefined for one that may have another body, or none. */
  functions: Map<string, FunctionBody | undefined>;
  positional: readonly Arg[] | undefined;
};

/** More possible folders than this count as unknown. */
const MAX_FOLDERS = 8;
const NUMBERS = new Set("RANDOM SECONDS LINENO UID EUID PPID BASHPID HOSTNAME USER LOGNAME".split(" "));

export function initialState(scope: CommandScope): ShellState {
  return {
    variables: new Map([
      ["HOME", [knownArg(scope.home)]],
      ["TMPDIR", [knownArg(tmpdir())]],
      ["IFS", [knownArg(" \t\n")]],
      ...[...(scope.variables ?? [])].map(([name, value]): [string, readonly Arg[]] => [name, [knownArg(value)]]),
    ]),
    cwds: [scope.cwd],
    abandoned: [],
    integers: new Set(),
    functions: new Map(),
    positional: undefined,
  };
}

export function forkState(state: ShellState): ShellState {
  return {
    ...state,
    variables: new Map(state.variables),
    functions: new Map(state.functions),
  };
}

export function variable(state: ShellState, name: string): readonly Arg[] {
  const assigned = state.variables.get(name);
  if (assigned) return assigned;
  if (name === "PWD") return state.cwds?.length === 1 ? state.cwds.map(knownArg) : [UNKNOWN_ARG];
  if (NUMBERS.has(name)) return [knownArg(TOKEN)];
  return [UNKNOWN_ARG];
}

export function mergeState(state: ShellState, other: ShellState): void {
  for (const name of new Set([...state.variables.keys(), ...other.variables.keys()])) {
    const [left, right] = [state.variables.get(name), other.variables.get(name)];
    if (!sameValue(left, right))
      state.variables.set(name, [isNumber(left) && isNumber(right) ? knownArg(TOKEN) : UNKNOWN_ARG]);
  }
  for (const name of new Set([...state.functions.keys(), ...other.functions.keys()]))
    if (state.functions.get(name) !== other.functions.get(name)) state.functions.set(name, undefined);
  if (state.integers !== other.integers) state.integers = new Set([...state.integers, ...other.integers]);
  if (!sameValue(state.positional, other.positional)) state.positional = undefined;
  state.cwds = bothFolders(state.cwds, other.cwds);
  state.abandoned = bothFolders(state.abandoned, other.abandoned);
}

export function sameState(left: ShellState, right: ShellState): boolean {
  if (left.variables.size !== right.variables.size || left.functions.size !== right.functions.size) return false;
  if (String(left.cwds) !== String(right.cwds) || String(left.abandoned) !== String(right.abandoned)) return false;
  if (!sameValue(left.positional, right.positional) || left.integers.size !== right.integers.size) return false;
  for (const [name, body] of left.functions) if (body !== right.functions.get(name)) return false;
  for (const [name, value] of left.variables) if (!sameValue(value, right.variables.get(name))) return false;
  return (left.cwds === undefined) === (right.cwds === undefined);
}

/** Records a `cd`: the shell is in one of `folders`, or in its former folder when the `cd` failed. */
export function enterFolders(state: ShellState, folders: readonly string[] | undefined): void {
  state.abandoned = bothFolders(state.abandoned, state.cwds);
  state.cwds = folders;
}

/** Ends a statement: from here on its `cd` may have worked or failed. */
export function settleFolders(state: ShellState): void {
  if (state.abandoned === undefined || state.abandoned.length > 0)
    state.cwds = bothFolders(state.cwds, state.abandoned);
  state.abandoned = [];
}

function bothFolders(left: readonly string[] | undefined, right: readonly string[] | undefined): string[] | undefined {
  if (left === undefined || right === undefined) return undefined;
  const both = [...new Set([...left, ...right])];
  return both.length > MAX_FOLDERS ? undefined : both;
}

export function isNumber(args: readonly Arg[] | undefined): boolean {
  return args?.length === 1 && /^\d+$/.test(args[0]?.text.replaceAll(TOKEN, "0") ?? "");
}

function sameValue(left: readonly Arg[] | undefined, right: readonly Arg[] | undefined): boolean {
  if (left === right) return true;
  if (left?.length !== right?.length || left === undefined || right === undefined) return false;
  return left.every((arg, index) => arg.text === right[index]?.text && arg.glob === right[index].glob);
}

export type Output = string;

export type Setting = {
  readonly state: ShellState;
  readonly input: Input;
  /** The code runs in a pipeline or in the background. */
  readonly parallel: boolean;
  /** Functions (by body) and aliases (by name) that are running. */
  readonly calls: readonly (FunctionBody | string)[];
};

export type Walk = {
  readonly scope: CommandScope;
  readonly record: Recorder;
  readonly script: (script: ParsedScript, setting: Setting) => Output;
  readonly code: (code: string, setting: Setting) => Output;
  readonly body: (body: FunctionBody, setting: Setting) => Output;
  readonly command: (words: readonly Arg[], setting: Setting) => Output;
};

export const NO_INPUT: Input = { kind: "none" };
