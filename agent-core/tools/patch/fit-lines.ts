/**
 * New lines for a place of a file: lines that the edit keeps stay as the file has them, with their line breaks; the
 * others get the place's indentation and line breaks.
 */
import type { LineEdit, Window } from "./find-by-fallbacks.ts";
import { alignLines, type EndedLine } from "./line-breaks.ts";
import { indentOf, type TextLines } from "./text-lines.ts";

/** Number of lines at the edges of an edit that stay and are left out of the result. */
export type Margins = { readonly head: number; readonly tail: number };

/** The window names the lines of the file that `oldLines` matched. */
export function fitLines(
  file: TextLines,
  { first, count, oldLines, newLines }: Window & LineEdit,
  margins: Margins = { head: 0, tail: 0 },
): readonly EndedLine[] {
  const there = file.slice(first, count);
  const given = there.map((text, index): EndedLine => ({ text, end: file.breakOf(first + index) }));
  const around = given[0]?.end || file.breakNear(first);
  const reindent = reindenter({ given: there, oldLines, newLines });
  const aligned = alignLines({ given, oldLines, newLines, ...margins, around });
  return aligned.map(({ text, end, isNew }) => ({ text: isNew ? reindent(text) : text, end }));
}

/** An indentation by the model, and the file's on the same line. */
type Pair = { readonly from: string; readonly to: string };

type Reindenting = {
  /** The file's lines, one for each of `oldLines`. */
  readonly given: readonly string[];
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
};

/**
 * Indents new lines as the place is indented, where the model wrote the place's own lines with another indentation: the
 * pairs of both say how one becomes the other. Lines that they do not cover stay as the model wrote them.
 */
function reindenter({ given, oldLines, newLines }: Reindenting): (line: string) => string {
  const pairs = pairsOf(given, oldLines);
  if (pairs.every(({ from, to }) => from === to)) return (line) => line;
  const known = new Map(pairs.toReversed().map(({ from, to }) => [from, to]));
  const scaled = scale(pairs, [...oldLines, ...newLines].map(indentOf));
  return (line) => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    const fitted = known.get(indent) ?? scaled?.(indent) ?? shifted(pairs, indent);
    return fitted + line.slice(indent.length);
  };
}

function pairsOf(given: readonly string[], oldLines: readonly string[]): readonly Pair[] {
  return oldLines.flatMap((line, index) => {
    const there = given[index] ?? "";
    return line.trim() === "" || there.trim() === "" ? [] : [{ from: indentOf(line), to: indentOf(there) }];
  });
}

/** The first pair's difference, before the deeper part. */
function shifted(pairs: readonly Pair[], indent: string): string {
  const { from, to } = pairs.find((pair) => indent.startsWith(pair.from)) ?? { from: indent, to: indent };
  return to + indent.slice(from.length);
}

/** Undefined where a side mixes tabs and spaces, or the pairs do not say how deep a level is. */
function scale(
  pairs: readonly Pair[],
  indents: readonly string[],
): ((indent: string) => string | undefined) | undefined {
  const there = characterOf(pairs.map(({ to }) => to));
  const here = characterOf(indents);
  const factor = there === undefined || here === undefined ? undefined : factorOf(pairs, indents, there === here);
  if (there === undefined || factor === undefined) return undefined;
  return (indent) => {
    const deeper = pairs.filter(({ from }) => from.length <= indent.length);
    const [nearest] = deeper.toSorted((one, other) => other.from.length - one.from.length);
    const { from, to } = nearest ?? pairs[0] ?? { from: "", to: "" };
    const length = to.length + (indent.length - from.length) * factor;
    return Number.isInteger(length) && length >= 0 ? there.repeat(length) : undefined;
  };
}

/** Number of the file's indentation characters for one of the model's. */
function factorOf(pairs: readonly Pair[], indents: readonly string[], isSameCharacter: boolean): number | undefined {
  const [shallow] = pairs.toSorted((one, other) => one.from.length - other.from.length);
  const deep = pairs.findLast(({ from }) => from.length !== shallow?.from.length);
  if (shallow !== undefined && deep !== undefined) {
    return (deep.to.length - shallow.to.length) / (deep.from.length - shallow.from.length);
  }
  if (isSameCharacter) return 1;
  if (shallow !== undefined && shallow.from !== "" && shallow.to !== "") return shallow.to.length / shallow.from.length;
  const unit = indents.reduce((divisor, { length }) => greatestDivisor(divisor, length), 0);
  // One space is alignment, not a level.
  return characterOf(pairs.map(({ to }) => to)) === "\t" && unit > 1 ? 1 / unit : undefined;
}

/** The one character of all indentations; undefined when there are several. */
function characterOf(indents: readonly string[]): "\t" | " " | undefined {
  const all = indents.join("");
  if (/^\t+$/.test(all)) return "\t";
  return /^ +$/.test(all) ? " " : undefined;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}
