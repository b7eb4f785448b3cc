/** Definition of a subcommand: its verbs, options and examples, from which parsing, help and completion come. */

export type Option = {
  /** `time`: such as `90s`, `30m` or `2h`; its value is milliseconds. */
  readonly kind: "flag" | "text" | "number" | "time" | "list";
  /** Lower case, without a final dot. */
  readonly summary: string;
  /** One letter. */
  readonly short?: string;
  /** Name of the value in the help, such as `DIR`. Completion offers files for `DIR` and `FILE`. */
  readonly value?: string;
  readonly default?: string | number;
  /** Smallest number. Default: 0. */
  readonly min?: number;
  /** The number may be a fraction. */
  readonly isFraction?: boolean;
  /** The only valid values. */
  readonly choices?: readonly string[];
  /** The only verbs that take the option; default: all. */
  readonly verbs?: readonly string[];
};

type Options = Readonly<Record<string, Option>>;

export type Verb = {
  readonly summary: string;
  /** Such as `NAME`, `[NAME]`, `WORDS…`; default: none. */
  readonly operands?: string;
  /** The missing operand in an error, such as `a name; hermes plugins list shows the names`. */
  readonly needs?: string;
};

type Kinds = {
  readonly flag: boolean;
  readonly text: string;
  readonly number: number;
  readonly time: number;
  readonly list: readonly string[];
};
type ValueOf<O extends Option> = O["kind"] extends "flag" | "list"
  ? Kinds[O["kind"]]
  :
      | (O extends { readonly choices: readonly (infer Choice)[] } ? Choice : Kinds[O["kind"]])
      | (O extends { readonly default: string | number } ? never : undefined);

/** Values by the options' names. `cwd` is absolute and exists. */
export type Values<O extends Options> = { readonly [Name in keyof O]: ValueOf<O[Name]> };

export type Invocation<V extends string = string, O extends Options = Options> = {
  /** Empty for a subcommand without verbs. */
  readonly verb: V;
  readonly operands: readonly string[];
  readonly values: Values<O>;
};

export type Definition<V extends string = string, O extends Options = Options> = {
  /** By name. The first one is the default. */
  readonly verbs?: Readonly<Record<V, Verb>>;
  /** Of a subcommand without verbs; as of a verb. */
  readonly operands?: string;
  readonly options?: O;
  /** Command lines without `hermes`, each with its purpose. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** True when it works without the Hermes home. */
  readonly withoutHome?: boolean;
  /** Returns the exit code. An error becomes one line: code 2 for a `UsageError`, else 1. */
  run(invocation: Invocation<V, O>, table: Table): Promise<number | SlashLine>;
};

/** A slash command that is the work of a subcommand, in the folder `cwd`. */
export type SlashLine = {
  readonly slash: string;
  readonly cwd: string;
  readonly allowAll?: boolean;
  readonly json?: boolean;
};

export type Subcommand = {
  /** Lower case, without a final dot. */
  readonly summary: string;
  load(): Promise<{ readonly command: Definition }>;
};

/** Subcommands by name, in the order of the help. */
export type Table = Readonly<Record<string, Subcommand>>;

/** The definition with the types of its values. */
export function subcommand<const V extends string = "", const O extends Options = Record<never, Option>>(
  definition: Definition<V, O>,
): Definition<V, O> {
  return definition;
}

/** Folder of the work; every subcommand that needs one has it. */
export const CWD = {
  kind: "text",
  value: "DIR",
  default: ".",
  summary: "work in DIR",
} as const satisfies Option;

export const YES = {
  kind: "flag",
  short: "y",
  summary: "approve every request (blocked commands stay blocked)",
} as const satisfies Option;

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  /** Or done in part. */
  failed: 1,
  /** A wrong command line or input. */
  misused: 2,
  /** Such as a port that is taken, or a queue out of reach. */
  tryAgain: 75,
  interrupted: 130,
} as const;
