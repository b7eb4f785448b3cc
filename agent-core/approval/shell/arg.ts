/** One word of a command, as far as it is known before the command runs. */

/** Mark in `Arg.text` for an unknown piece. A command with a real NUL is blocked before it is read. */
export const UNKNOWN = "\0";
/** Mark for an unknown but harmless piece: a number, a date, a hash. It has no slash and no leading dash. */
export const TOKEN = "\u0001";

export type Arg = {
  /** The value; unknown pieces are `UNKNOWN` or `TOKEN`. A pattern when `glob`. */
  readonly text: string;
  /** The word has an unquoted `*`, `?` or `[…]` and expands to the names that match. */
  readonly glob: boolean;
  /** The word is unknown and unquoted: it may expand to no word, one or several. */
  readonly splits: boolean;
  /** Content of the file behind `<(…)`, as far as it is known. */
  readonly content?: string;
};

export function knownArg(text: string): Arg {
  return { text, glob: false, splits: false };
}

export const UNKNOWN_ARG: Arg = { text: UNKNOWN, glob: false, splits: false };

export const UNKNOWN_ARGS: Arg = { text: UNKNOWN, glob: false, splits: true };

/** True when every character is known; a pattern counts as known. */
export function isKnown(arg: Arg): boolean {
  return !arg.text.includes(UNKNOWN) && !arg.text.includes(TOKEN);
}

/** Text for users: unknown pieces are `…`. */
export function shown(arg: Arg | string): string {
  const text = typeof arg === "string" ? arg : arg.text;
  const plain = text.replaceAll(UNKNOWN, "…").replaceAll(TOKEN, "…");
  return plain.length > 80 ? `${plain.slice(0, 77)}…` : plain;
}

/** The word without its first `count` characters: the value of an attached option. */
export function afterPrefix(arg: Arg, count: number): Arg {
  return { ...arg, text: arg.text.slice(count) };
}
