/** What one program does, as its option grammar tells it: the vocabulary between programs/ and the verdict. */
import type { Arg } from "./shell/arg.ts";
import type { GrantForm } from "./shell/recorder.ts";

/** What a program finds on its standard input. */
export type Input =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  /** Something that is not known before it runs; `from` says what gives it. */
  | { readonly kind: "data"; readonly from: string };

export type Call = {
  /** Name of the program, without folder. */
  readonly name: string;
  readonly args: readonly Arg[];
  readonly input: Input;
};

export type CommandEffect =
  | { readonly kind: "read"; readonly path: Arg }
  /** Creates, changes, overwrites or links. */
  | { readonly kind: "write"; readonly path: Arg }
  /** Takes away; with `moves` it goes to another place and can be had back. */
  | { readonly kind: "delete"; readonly path: Arg; readonly recursive: boolean; readonly moves?: boolean }
  /** Mode or owner. */
  | { readonly kind: "permissions"; readonly path: Arg; readonly recursive: boolean }
  /** Changes something that is ordinary in a workspace: runs its tests, adds to the index. Does not ask. */
  | { readonly kind: "change" }
  /** Runs another program. */
  | { readonly kind: "command"; readonly words: readonly Arg[]; readonly input?: Input; readonly cwd?: Arg }
  /** Runs shell code; with `here` in this very shell, with `raises` only to make the verdict worse. */
  | {
      readonly kind: "shell";
      readonly code: string;
      readonly positional?: readonly Arg[];
      /** `$0`. */
      readonly zero?: Arg;
      readonly here?: boolean;
      readonly raises?: boolean;
    }
  /** What runs is not known: it could do anything. */
  | { readonly kind: "opaque"; readonly reason: string }
  /** `runsCode`: it asks only because it runs code that nobody looked at. */
  | { readonly kind: "ask"; readonly reason: string; readonly grant: GrantForm; readonly runsCode?: true }
  | { readonly kind: "block"; readonly reason: string };

/** One tool's grammar: what a call of it does. No effect at all means that it only reads. */
export type Program = (call: Call) => readonly CommandEffect[];

/** An ordinary change that does not ask. */
export const CHANGE: CommandEffect = { kind: "change" };

export function ask(reason: string, grant: GrantForm = "exact"): CommandEffect {
  return { kind: "ask", reason, grant };
}

/** Asks because it runs code that nobody looked at: a script, a program that is not known. */
export function askForCode(reason: string, grant: GrantForm = "exact"): CommandEffect {
  return { kind: "ask", reason, grant, runsCode: true };
}

export function block(reason: string): CommandEffect {
  return { kind: "block", reason };
}

export function opaque(reason: string): CommandEffect {
  return { kind: "opaque", reason };
}

export function reads(paths: readonly Arg[]): CommandEffect[] {
  return paths.map((path) => ({ kind: "read", path }));
}

export function writes(paths: readonly Arg[]): CommandEffect[] {
  return paths.map((path) => ({ kind: "write", path }));
}
