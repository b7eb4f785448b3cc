/**
 * New lines for a place of a file: lines that the edit keeps stay as the file has them, with their line breaks; the
 * others get the place's indentation and line breaks.
 */
import type { LineEdit, Window } from "./find-by-fallbacks.ts";
import { type AlignedLine, alignLines, type EndedLine } from "./line-breaks.ts";
import { indentOf, type TextLines } from "./text-lines.ts";
import { invisiblesOf, keepTypography, quotesOf } from "./typography.ts";

/** Number of lines at the edges of an edit that stay and are left out of the result. */
export type Margins = { readonly head: number; readonly tail: number };

export type FittedLines =
  | { readonly ok: true; readonly lines: readonly EndedLine[] }
  /** `text`: reason, and advice for the model. */
  | { readonly ok: false; readonly text: string };

/** The window names the lines of the file that `oldLines` matched. Refuses where the match leaves the result unclear. */
export function fitLines(
  file: TextLines,
  { first, count, oldLines, newLines }: Window & LineEdit,
  margins: Margins = { head: 0, tail: 0 },
): FittedLines {
  const there = file.slice(first, count);
  const hidden = there.findIndex((line, index) => invisiblesOf(line) !== invisiblesOf(oldLines[index] ?? ""));
  if (hidden >= 0) return hiddenDifference(first + hidden, there[hidden] ?? "", oldLines[hidden] ?? "");
  const given = there.map((text, index): EndedLine => ({ text, end: file.breakOf(first + index) }));
  const around = given[0]?.end || file.breakNear(first);
  const indentFor = reindenter({ given: there, oldLines, newLines });
  const inQuotes = quotesOf(there, oldLines);
  const lines: EndedLine[] = [];
  for (const line of alignLines({ given, oldLines, newLines, ...margins, around })) {
    const indent = line.isNew ? indentFor(line) : "";
    if (indent === undefined) return unclearDepth(first, count);
    const { text, replaces = -1 } = line;
    const kept = keepTypography(bodyOf(there[replaces] ?? ""), bodyOf(oldLines[replaces] ?? ""), bodyOf(text));
    lines.push({ text: line.isNew ? indent + inQuotes(kept) : text, end: line.end });
  }
  return { ok: true, lines };
}

function hiddenDifference(index: number, there: string, wanted: string): FittedLines {
  const [has, given] = [invisiblesOf(there) || "none", invisiblesOf(wanted) || "none"];
  const text = `line ${index + 1} of the file matches but for invisible characters: the file has ${has}, your text has ${given}. Give the file's characters, as JSON escapes, or write the whole text with write_file.`;
  return { ok: false, text };
}

function unclearDepth(first: number, count: number): FittedLines {
  const text = `lines ${first + 1} to ${first + count} of the file match but for their indentation, which differs from line to line, so the depth of the new lines is unclear. Copy these lines with their exact indentation.`;
  return { ok: false, text };
}

function bodyOf(line: string): string {
  return line.slice(indentOf(line).length);
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
 * Indentation of new lines as the place is indented, where the model wrote the place's own lines with another one: the
 * pairs of both say how one becomes the other. Undefined for a line whose depth they leave unclear.
 */
function reindenter({ given, oldLines, newLines }: Reindenting): (line: AlignedLine) => string | undefined {
  const pairs = pairsOf(given, oldLines);
  if (pairs.every(({ from, to }) => from === to)) return ({ text }) => indentOf(text);
  const known = new Map(pairs.map(({ from, to }) => [from, to]));
  const isClear = keepsDepths(pairs, known);
  const scaled = scale(pairs, [...oldLines, ...newLines].map(indentOf));
  return ({ text, replaces = -1, isPaired }) => {
    const indent = indentOf(text);
    if (text.trim() === "") return indent;
    if (isClear) return known.get(indent) ?? (scaled === undefined ? shifted(pairs, indent) : scaled(indent));
    const [own] = isPaired ? pairsOf(given.slice(replaces, replaces + 1), oldLines.slice(replaces, replaces + 1)) : [];
    return own?.from === indent ? own.to : undefined;
  };
}

/** True when lines that are equally deep for the model are so in the file, and deeper ones are deeper. */
function keepsDepths(pairs: readonly Pair[], known: ReadonlyMap<string, string>): boolean {
  if (pairs.some(({ from, to }) => known.get(from) !== to)) return false;
  const distinct = [...known];
  return distinct.every(([from, to]) =>
    distinct.every(([other, there]) => from === other || !other.startsWith(from) || !to.startsWith(there)),
  );
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

/** Undefined where a side mixes tabs and spaces, or the pairs do not say how deep a level is; a line may stay unclear. */
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

/** Number of the file's indentation characters for one of the model's; NaN when neither a shift nor one ratio explains all pairs. */
function factorOf(pairs: readonly Pair[], indents: readonly string[], isSameCharacter: boolean): number | undefined {
  const [shallow] = pairs.toSorted((one, other) => one.from.length - other.from.length);
  const deep = pairs.findLast(({ from }) => from.length !== shallow?.from.length);
  if (shallow !== undefined && deep !== undefined) {
    const factor = (deep.to.length - shallow.to.length) / (deep.from.length - shallow.from.length);
    const isLine = pairs.every(
      ({ from, to }) => to.length - shallow.to.length === factor * (from.length - shallow.from.length),
    );
    const isPlain = factor === 1 || shallow.from === "" || shallow.to.length === factor * shallow.from.length;
    return isLine && isPlain ? factor : Number.NaN;
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
