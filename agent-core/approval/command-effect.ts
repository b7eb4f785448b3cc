/** Effects of one program: the vocabulary between the rules and the verdict. */
import type { NameFilter } from "./reached-secrets.ts";
import type { Arg } from "./shell/arg.ts";
import type { GrantForm, Reach } from "./shell/recorder.ts";

export type Input =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  /** Data that is not known before the program runs; `from` names its source. */
  | { readonly kind: "data"; readonly from: string };

export type Call = {
  readonly name: string;
  readonly args: readonly Arg[];
  readonly input: Input;
};

/** Branches of a remote that git fetches; with `pulls` their files come into the work tree. */
export type RemoteBranches = {
  readonly remote: string;
  readonly refs: readonly string[];
  readonly pulls: boolean;
};

export type CommandEffect =
  /** `prints`: only names and sizes, of the named file too (`facts`), or the text of all files `below` a folder. */
  | {
      readonly kind: "read";
      readonly path: Arg;
      readonly prints?: "names" | "facts" | "below";
      readonly filter?: NameFilter;
    }
  /** Prints the text of files that the repository tracks; without `paths`, of any. */
  | { readonly kind: "history"; readonly paths: readonly Arg[] }
  /** Creates, changes, overwrites or links. */
  | { readonly kind: "write"; readonly path: Arg }
  /** Deletes; with `moves` the file goes to another path and is not lost. */
  | { readonly kind: "delete"; readonly path: Arg; readonly recursive: boolean; readonly moves?: boolean }
  | { readonly kind: "permissions"; readonly path: Arg; readonly recursive: boolean }
  /** An ordinary change in a workspace, such as running its tests. It does not ask. */
  | { readonly kind: "change" }
  /**
   * Asks a service for what it knows: containers, a cluster, a server of this machine. Every word is known.
   * `of`: the program reads the settings of a repository or a compose project first, and it counts only where they are plain.
   * `follows`: it asks unless the repository follows these branches.
   */
  | { readonly kind: "look"; readonly of?: "repository" | "compose"; readonly follows?: RemoteBranches }
  /**
   * Runs code of the project that is not read: its tests, its build. `words`: those of the call, each of which may name a
   * file that is written. `hooks`: only where git has hooks.
   */
  | { readonly kind: "project"; readonly words: readonly Arg[]; readonly hooks?: true }
  /** Runs a script of the project, which is read. `otherwise`: effects when it cannot be read. */
  | {
      readonly kind: "script";
      readonly source: ScriptSource;
      readonly positional?: readonly Arg[];
      readonly here?: boolean;
      readonly otherwise: readonly CommandEffect[];
    }
  /** Runs another program. `variables`: `name=value`, set for it alone. */
  | {
      readonly kind: "command";
      readonly words: readonly Arg[];
      readonly input?: Input;
      readonly cwd?: Arg;
      readonly variables?: readonly Arg[];
      /** A package of the project has the program, which would otherwise be downloaded. */
      readonly own?: "installed";
    }
  /** Needs this reach beyond the sandbox. `when`: only where this setting of git is on. */
  | { readonly kind: "reach"; readonly reach: Reach; readonly when?: string }
  /** Runs shell code; `here`: in this shell. */
  | {
      readonly kind: "shell";
      readonly code: string;
      readonly positional?: readonly Arg[];
      readonly zero?: Arg;
      readonly here?: boolean;
    }
  | { readonly kind: "opaque"; readonly reason: string }
  /** `runsCode`: the only reason is that unread code runs. `always`: asks in every mode, and no answer lasts. */
  | {
      readonly kind: "ask";
      readonly reason: string;
      readonly grant: GrantForm;
      readonly runsCode?: true;
      readonly always?: true;
    }
  | { readonly kind: "block"; readonly reason: string };

export type ScriptSource =
  | { readonly of: "file"; readonly path: Arg }
  | { readonly of: "package"; readonly name: string; readonly folder?: Arg };

/** Effects of a call of one program. A call without effects only reads. */
export type Program = (call: Call) => readonly CommandEffect[];

export const CHANGE: CommandEffect = { kind: "change" };
export const OUTSIDE = { kind: "reach", reach: "outside" } as const satisfies CommandEffect;
export const NETWORK: CommandEffect = { kind: "reach", reach: "network" };

/** Asks a service, which lies beyond the sandbox, and changes nothing. */
export const LOOK: CommandEffect = { kind: "look" };

/**
 * Unread code of the project runs. It asks where the agent wrote code of the project, and where one of `words` names a
 * protected file: the code may take it for the file of a report.
 */
export function project(words: readonly Arg[]): CommandEffect {
  return { kind: "project", words };
}

export function ask(reason: string, grant: GrantForm = "exact"): CommandEffect {
  return { kind: "ask", reason, grant };
}

/** Asks because unread code runs: a script, or a program that is not known. */
export function askForCode(reason: string, grant: GrantForm = "exact"): CommandEffect {
  return { kind: "ask", reason, grant, runsCode: true };
}

export function block(reason: string): CommandEffect {
  return { kind: "block", reason };
}

export function opaque(reason: string): CommandEffect {
  return { kind: "opaque", reason };
}

export function reads(
  paths: readonly Arg[],
  prints?: "below" | "names" | "facts",
  filter?: NameFilter,
): readonly CommandEffect[] {
  return paths.map((path) => ({ kind: "read", path, ...(prints && { prints }), ...(filter && { filter }) }));
}

export function writes(paths: readonly Arg[]): readonly CommandEffect[] {
  return paths.map((path) => ({ kind: "write", path }));
}

export function deletes(paths: readonly Arg[], recursive = true, moves = false): readonly CommandEffect[] {
  return paths.map((path) => ({ kind: "delete", path, recursive, moves }));
}
