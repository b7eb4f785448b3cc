/** What the engine says of a command. */

/** `safe` runs, `ask` needs an answer, `block` never runs. */
export type Level = "safe" | "ask" | "block";

export type Verdict = {
  readonly level: Level;
  /** Why, for people: one plain sentence each, what it does and to what. Empty when safe. */
  readonly reasons: readonly string[];
  /** Purely reading: it changes no file, no process, no repository and sends nothing. */
  readonly readOnly: boolean;
  /** False when it was not read to its end: it may do worse than the level says, and has to be asked for. */
  readonly isWhole: boolean;
  /** A sandbox without network holds all that it does, and it needs nothing that such a sandbox does not give. */
  readonly isContained: boolean;
  /**
   * Those of `reasons` that need an answer in every mode, `auto` too: protected paths, and what cannot be known
   * before it runs and so could reach them.
   */
  readonly always: readonly string[];
  /**
   * What belongs to no simple command, and so is covered by no grant of one: redirections into files, variables that
   * steer other programs.
   */
  readonly loose: { readonly asks: boolean; readonly changes: boolean };
  /** Every simple command that was found, wrapped and nested ones too, in the order they were met. */
  readonly parts: readonly CommandPart[];
};

/** One simple command of the whole. */
export type CommandPart = {
  /** The command's words as far as they are known; undefined when one of them is not. */
  readonly words: readonly string[] | undefined;
  /** The command word as it was looked up, without folder. */
  readonly program: string;
  readonly level: Level;
  readonly readOnly: boolean;
  /** How a lasting grant may name it: by its first words, by all of them, or not at all. */
  readonly grant: GrantForm;
};

export type GrantForm = "prefix" | "exact" | "never";
