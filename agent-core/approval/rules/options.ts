/** Reader of a program's options, as getopt_long reads them: bundled letters, attached values, abbreviated names. */
import { type Arg, afterPrefix, knownArg, UNKNOWN } from "../shell/arg.ts";

export type Grammar = {
  /** Letters; a colon after one means that it takes a value, two colons an attached value or none. */
  readonly short?: string;
  /** Names without dashes; `name=` takes a value, `name=?` an attached value or none. */
  readonly long?: readonly string[];
  /** Options end at the first operand, as they do for wrappers. */
  readonly posix?: boolean;
  /**
   * Options outside of the grammar are flags; otherwise they are `strange`. Words after `--` count as options, too,
   * because not every program ends its options there.
   */
  readonly open?: boolean;
  /** Words with a dash that still count as operands. */
  readonly operandLike?: RegExp;
  /** A pattern stays one word: the program matches it, and not its shell. */
  readonly matches?: true;
};

export type Options = {
  /** Letter or long name → its values in order; a flag's value is an empty word. `--` is among the names. */
  readonly given: ReadonlyMap<string, readonly Arg[]>;
  readonly written: ReadonlyMap<string, Arg>;
  readonly operands: readonly Arg[];
  /** Options outside of the grammar, and unknown words that may be options. */
  readonly strange: readonly Arg[];
};

const FLAG = knownArg("");

type Reader = {
  readonly args: readonly Arg[];
  readonly matches: boolean;
  position: number;
  readonly given: Map<string, Arg[]>;
  readonly written: Map<string, Arg>;
  readonly strange: Arg[];
  /** Values that expand to several words: those after the first are operands. */
  readonly spilled: Arg[];
};

export function readOptions(args: readonly Arg[], grammar: Grammar): Options {
  const lists = { given: new Map(), written: new Map(), strange: [], spilled: [] };
  const reader: Reader = { args, matches: grammar.matches === true, position: 0, ...lists };
  const operands: Arg[] = [];
  for (let arg = take(reader); arg !== undefined; arg = take(reader)) {
    if (readOption(reader, arg, grammar)) continue;
    const isEnd = arg.text === "--";
    if (isEnd) give(reader, "--", FLAG, arg);
    else operands.push(arg);
    if (!isEnd && arg.text.startsWith(UNKNOWN)) reader.strange.push(arg);
    if (!isEnd && grammar.posix !== true) continue;
    const rest = args.slice(reader.position);
    operands.push(...rest);
    if (!isEnd || grammar.open !== true) break;
    for (const word of rest) if (readOption(reader, word, grammar)) reader.position = args.length;
    break;
  }
  const { given, written, strange } = reader;
  return { given, written, operands: [...operands, ...reader.spilled], strange };
}

function readOption(reader: Reader, arg: Arg, grammar: Grammar): boolean {
  if (!arg.text.startsWith("-") || arg.text === "-" || arg.text === "--") return false;
  if (grammar.operandLike?.test(arg.text)) return false;
  if (arg.text.startsWith("--")) readLong(reader, arg, grammar);
  else readShort(reader, arg, grammar);
  return true;
}

/** True when one of the options is given. Where the grammar is open, a long name may be abbreviated. */
export function has({ given }: Options, ...names: readonly string[]): boolean {
  const long = [...given.keys()].filter((name) => /^\w\w/.test(name));
  return names.some((name) => given.has(name) || long.some((start) => name.startsWith(start)));
}

export function valuesOf(options: Options, ...names: readonly string[]): readonly Arg[] {
  return names.flatMap((name) => options.given.get(name) ?? []);
}

function take(reader: Reader): Arg | undefined {
  const arg = reader.args[reader.position];
  reader.position += 1;
  return arg;
}

function takeValue(reader: Reader): Arg | undefined {
  const value = take(reader);
  if (!reader.matches && (value?.glob || value?.splits)) reader.spilled.push(value);
  return value;
}

function give(reader: Reader, name: string, value: Arg, written: Arg): void {
  const values = reader.given.get(name);
  if (values) values.push(value);
  else reader.given.set(name, [value]);
  reader.written.set(name, written);
}

function readLong(reader: Reader, arg: Arg, grammar: Grammar): void {
  const equals = arg.text.indexOf("=");
  const written = arg.text.slice(2, equals < 0 ? undefined : equals);
  const known = longNames(written, grammar.long ?? []);
  const candidates = known.length === 0 && grammar.open ? [written] : known;
  if (candidates.length === 0) {
    reader.strange.push(arg);
    return;
  }
  const attached = equals < 0 ? undefined : afterPrefix(arg, equals + 1);
  const takesValue = candidates.some((name) => name.endsWith("="));
  const value = attached ?? (takesValue ? takeValue(reader) : undefined) ?? FLAG;
  // An ambiguous abbreviation counts as every option that it may mean.
  for (const name of candidates) give(reader, name.replace(/=\??$/, ""), value, arg);
}

function longNames(written: string, names: readonly string[]): readonly string[] {
  const plain = (name: string) => name.replace(/=\??$/, "");
  const exact = names.filter((name) => plain(name) === written);
  return exact.length > 0 || written === "" ? exact : names.filter((name) => name.startsWith(written));
}

function readShort(reader: Reader, arg: Arg, grammar: Grammar): void {
  const letters = grammar.short ?? "";
  let isListed = true;
  for (let index = 1; index < arg.text.length; index += 1) {
    const letter = arg.text[index] ?? "";
    const at = letter === ":" ? -1 : letters.indexOf(letter);
    if (at < 0 && !grammar.open) {
      reader.strange.push(arg);
      return;
    }
    // After an unlisted letter the values of the others are not known: they count as flags.
    isListed &&= at >= 0;
    const takesValue = isListed && letters[at + 1] === ":";
    if (takesValue) {
      give(reader, letter, shortValue(reader, arg, index, letters[at + 2] === ":"), arg);
      return;
    }
    give(reader, letter, FLAG, arg);
  }
}

function shortValue(reader: Reader, arg: Arg, index: number, onlyAttached: boolean): Arg {
  if (index + 1 < arg.text.length) return afterPrefix(arg, index + 1);
  return (onlyAttached ? undefined : takeValue(reader)) ?? FLAG;
}
