/** Reads a tool's arguments by its option grammar, as getopt_long does: bundled letters, attached values, abbreviations. */
import { type Arg, afterPrefix, knownArg, UNKNOWN } from "./shell/arg.ts";

export type Grammar = {
  /** Letters; a colon after one means that it takes a value, two colons an attached one or none. */
  readonly short?: string;
  /** Names without dashes; `name=` takes a value, `name=?` an attached one or none. */
  readonly long?: readonly string[];
  /** Options end at the first operand, as they do for wrappers. */
  readonly posix?: boolean;
};

export type Options = {
  /** Letter or long name → its values in order; a flag's value is an empty word. */
  readonly given: ReadonlyMap<string, readonly Arg[]>;
  readonly operands: readonly Arg[];
  /** Options that the grammar does not know, and words that may be options. */
  readonly strange: readonly Arg[];
};

const FLAG = knownArg("");

type Reader = {
  readonly args: readonly Arg[];
  position: number;
  readonly given: Map<string, Arg[]>;
  readonly strange: Arg[];
};

export function readOptions(args: readonly Arg[], grammar: Grammar): Options {
  const reader: Reader = { args, position: 0, given: new Map(), strange: [] };
  const operands: Arg[] = [];
  for (let arg = take(reader); arg !== undefined; arg = take(reader)) {
    if (arg.text === "--") {
      operands.push(...args.slice(reader.position));
      break;
    }
    if (arg.text.startsWith("--")) readLong(reader, arg, grammar);
    else if (arg.text.startsWith("-") && arg.text !== "-") readShort(reader, arg, grammar);
    else {
      if (arg.text.startsWith(UNKNOWN)) reader.strange.push(arg);
      operands.push(arg);
      if (!grammar.posix) continue;
      operands.push(...args.slice(reader.position));
      break;
    }
  }
  return { given: reader.given, operands, strange: reader.strange };
}

/** True when one of these letters or long names was given. */
export function has(options: Options, ...names: readonly string[]): boolean {
  return names.some((name) => options.given.has(name));
}

/** The values of these letters or long names. */
export function valuesOf(options: Options, ...names: readonly string[]): readonly Arg[] {
  return names.flatMap((name) => options.given.get(name) ?? []);
}

function take(reader: Reader): Arg | undefined {
  const arg = reader.args[reader.position];
  reader.position += 1;
  return arg;
}

function give(reader: Reader, name: string, value: Arg): void {
  const values = reader.given.get(name);
  if (values) values.push(value);
  else reader.given.set(name, [value]);
}

function readLong(reader: Reader, arg: Arg, grammar: Grammar): void {
  const equals = arg.text.indexOf("=");
  const written = arg.text.slice(2, equals < 0 ? undefined : equals);
  const candidates = longNames(written, grammar.long ?? []);
  if (candidates.length === 0) {
    reader.strange.push(arg);
    return;
  }
  const attached = equals < 0 ? undefined : afterPrefix(arg, equals + 1);
  const takesValue = candidates.some((name) => name.endsWith("="));
  const value = attached ?? (takesValue ? take(reader) : undefined) ?? FLAG;
  // An ambiguous abbreviation counts as all that it may mean: the tool will refuse it, or knows only one of them.
  for (const name of candidates) give(reader, name.replace(/=\??$/, ""), value);
}

function longNames(written: string, names: readonly string[]): readonly string[] {
  const plain = (name: string) => name.replace(/=\??$/, "");
  const exact = names.filter((name) => plain(name) === written);
  return exact.length > 0 || written === "" ? exact : names.filter((name) => name.startsWith(written));
}

function readShort(reader: Reader, arg: Arg, grammar: Grammar): void {
  const letters = grammar.short ?? "";
  for (let index = 1; index < arg.text.length; index += 1) {
    const letter = arg.text[index] ?? "";
    const at = letter === ":" ? -1 : letters.indexOf(letter);
    if (at < 0) {
      reader.strange.push(arg);
      return;
    }
    if (letters[at + 1] !== ":") {
      give(reader, letter, FLAG);
      continue;
    }
    const rest = index + 1 < arg.text.length ? afterPrefix(arg, index + 1) : undefined;
    const next = letters[at + 2] === ":" ? FLAG : undefined;
    give(reader, letter, rest ?? next ?? take(reader) ?? FLAG);
    return;
  }
}
