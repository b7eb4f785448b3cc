/** What the pieces of the walk through a command know of each other. */
import type { ParsedScript } from "unbash";
import type { Input } from "../command-effect.ts";
import type { CommandScope } from "../scope.ts";
import type { Arg } from "./arg.ts";
import type { Recorder } from "./recorder.ts";
import type { FunctionBody, ShellState } from "./state.ts";

/** What a command prints, with the marks of arg.ts for what is not known. */
export type Output = string;

/** Where a piece of code runs. */
export type Setting = {
  readonly state: ShellState;
  readonly input: Input;
  /** Runs beside others: in a pipeline or in the background. */
  readonly parallel: boolean;
  /** Functions (by body) and aliases (by name) that are running. */
  readonly calls: readonly (FunctionBody | string)[];
};

export type Walk = {
  readonly scope: CommandScope;
  readonly record: Recorder;
  /** Walks a parsed script. */
  readonly script: (script: ParsedScript, setting: Setting) => Output;
  /** Parses and walks shell code. */
  readonly code: (code: string, setting: Setting) => Output;
  /** Walks the body of a function. */
  readonly body: (body: FunctionBody, setting: Setting) => Output;
  /** Walks one command whose words are there already. */
  readonly command: (words: readonly Arg[], setting: Setting) => Output;
};

export const NO_INPUT: Input = { kind: "none" };
