/** A word of a command as far as it is known before the command runs. */

/** Stands in `Arg.text` for a piece that is not known; a command with a real NUL never gets this far. */
export const UNKNOWN = "\0";
/** Stands for a piece that is not known but is one harmless token: a number, a date, a hash; no slash, no leading dash. */
export const TOKEN = "\u0001";

export type Arg = {
  /** The value; unknown pieces are `UNKNOWN` or `TOKEN`. A pattern when `glob`. */
  readonly text: string;
  /** Holds an unquoted `*`, `?` or `[…]`: stands for the names that match. */
  readonly glob: boolean;
  /** Unknown and unquoted: may become no word, one or several. */
  readonly splits: boolean;
  /** What it most likely is, when `text` has unknown pieces. Only ever used to raise a verdict. */
  readonly guess?: string;
  /** What the file behind `<(…)` holds, as far as it is known. */
  readonly content?: string;
};

export function knownArg(text: string): Arg {
  return { text, glob: false, splits: false };
}

/** One quoted word of which nothing is known. */
export const UNKNOWN_ARG: Arg = { text: UNKNOWN, glob: false, splits: false };

/** Any number of words of which nothing is known. */
export const UNKNOWN_ARGS: Arg = { text: UNKNOWN, glob: false, splits: true };

/** True when every character is known; a pattern counts as known. */
export function isKnown(arg: Arg): boolean {
  return !arg.text.includes(UNKNOWN) && !arg.text.includes(TOKEN);
}

/** For people: unknown pieces as `…`. */
export function shown(arg: Arg | string): string {
  const text = typeof arg === "string" ? arg : arg.text;
  const plain = text.replaceAll(UNKNOWN, "…").replaceAll(TOKEN, "…");
  return plain.length > 80 ? `${plain.slice(0, 77)}…` : plain;
}

/** The same word with its first `count` characters cut off: the value of an attached option. */
export function afterPrefix(arg: Arg, count: number): Arg {
  const { guess, ...rest } = arg;
  return { ...rest, text: arg.text.slice(count), ...(guess !== undefined && { guess: guess.slice(count) }) };
}
