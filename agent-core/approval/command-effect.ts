/** Effects of one program: the vocabulary between the rules and the verdict. */
import type { NameFilter } from "./reached-secrets.ts";
import type { Arg } from "./shell/arg.ts";

/** `safe` runs, `ask` needs an answer, `block` never runs. */
export type Level = "safe" | "ask" | "block";

/** Form in which a lasting grant may name a command: its first words, all its words, or not at all. */
export type GrantForm = "prefix" | "exact" | "never";

/**
 * Reach of a command: inside a sandbox without network, with the network, or `outside`: it needs the user's keys, other
 * processes, devices, or files that a sandbox hides.
 */
export type Reach = "inside" | "network" | "outside";

export type Finding = {
  readonly kind: "finding";
  readonly level: Exclude<Level, "safe">;
  readonly reason: string;
  /** Needs an answer in every mode. */
  readonly always: boolean;
  readonly grant: GrantForm;
  /** Asks only because unread code runs: a sandbox confines what that code does. */
  readonly contained?: boolean;
  readonly reads?: true;
  /** A part of the command was not read: it may be worse than its level. */
  readonly unread?: true;
};

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
  | Finding;

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

export function ask(reason: string, grant: GrantForm = "exact"): Finding {
  return { kind: "finding", level: "ask", reason, always: false, grant };
}

/** Asks because unread code runs: a script, or a program that is not known. */
export function askForCode(reason: string, grant: GrantForm = "exact"): Finding {
  return { ...ask(reason, grant), contained: true };
}

/** Asks in every mode because the code that runs is not known. */
export function opaque(reason: string): Finding {
  return { ...askForCode(reason, "never"), always: true };
}

/** Asks in every mode and is never granted: a protected file, or an effect that is not known before it runs. */
export function askAlways(reason: string): Finding {
  return { ...ask(reason, "never"), always: true };
}

/** A part of the command that cannot be read. */
export function unread(reason: string): Finding {
  return { ...askAlways(reason), unread: true };
}

export function block(reason: string): Finding {
  return { ...askAlways(reason), level: "block" };
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
