/**
 * Place of an answer's code block in the text of a file. No model takes part, so a block without one clear place has none.
 * A line of the block's outermost indentation is a head. The block replaces the lines from its first head to the end of
 * its last one, else the selection, else a file that it mostly repeats.
 */
import { applyPatch, parsePatch } from "diff";

/** `same`: the file has the code already. `gap`: a comment in the block stands for code that it leaves out. */
export type Placed = { readonly kind: "placed"; readonly text: string } | { readonly kind: "same" | "gap" | "unclear" };

/** Offsets into the text. */
export type Span = { readonly start: number; readonly end: number };

/** Lines, from 0; `to` is the line after the last one. */
type Lines = { readonly from: number; readonly to: number };

const GAP = /^\s*(?:\/\/|\/\*|#|--|<!--|;|%|\{\/\*)\s*(?:\.\.\.|…)/;
const PATCH = /^(?:--- |@@ -\d)/m;
/** Comments and decorators, which belong to the head after them. */
const LEAD = /^\s*(?:\/\/|\/\*|\*|#(?!include)|--|<!--|"""|@)/;
/** Lines that end a head's block at its own indentation. */
const CLOSER = /^\s*(?:[\])}>;,]+|end\b|<\/)/;
const DECLARATION =
  /^\s*(?:(?:export|default|public|private|protected|static|async|abstract|pub) )*(?:(?:function|class|def|fn|func|interface|struct|enum|impl|trait|type) |(?!(?:if|for|while|switch|catch|with)\b)#?[\w$]+\([^)]*\)[^=;]*\{(?:.*\})?$)/;

/** A selection counts only where the code has no place of its own. */
export function placeCode(text: string, code: string, selection?: Span): Placed {
  if (PATCH.test(code)) return patched(text, code);
  const given = code.split(/\r?\n/);
  const block = given.slice(given.findIndex(isText), given.findLastIndex(isText) + 1); // without blank ones around
  if (block.some((line) => GAP.test(line))) return { kind: "gap" };
  if (text.trim() === "") return { kind: "placed", text: `${block.join("\n")}\n` };
  if (block.length === 1 && selection !== undefined && !text.slice(selection.start, selection.end).includes("\n")) {
    return changed(text, text.slice(0, selection.start) + (block[0]?.trim() ?? "") + text.slice(selection.end));
  }
  const lines = text.split(/(?<=\n)/);
  const selected = selection === undefined ? undefined : linesOf(text, selection);
  const place = [ownPlace(lines, block), selected, repeated(lines, block)].find(
    (found) => found !== undefined && !repeatsOutside(lines, block, found),
  );
  return place === undefined ? { kind: "unclear" } : changed(text, replaced(lines, place, block));
}

function changed(before: string, after: string): Placed {
  return before === after ? { kind: "same" } : { kind: "placed", text: after };
}

/** A unified diff applies where its context is. */
function patched(text: string, code: string): Placed {
  try {
    const [patch, ...further] = parsePatch(code);
    const after = patch === undefined || further.length > 0 ? false : applyPatch(text, patch);
    return after === false ? { kind: "unclear" } : changed(text, after);
  } catch {
    return { kind: "unclear" }; // models miscount the lines of a hunk
  }
}

/** Lines between the block's first and last heads in the file, if each is there once. */
function ownPlace(lines: readonly string[], block: readonly string[]): Lines | undefined {
  const heads = headsOf(block);
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [start, end] = [lineOf(lines, block, first), lineOf(lines, block, last)];
  if (start === undefined || end === undefined || end < start) return undefined;
  let from = start;
  // The block brings comments and decorators of its own.
  if (block.slice(0, first).some(isText)) while (from > 0 && LEAD.test(lines[from - 1] ?? "")) from -= 1;
  const place = { from, to: endOf(lines, end) };
  const count = (within: readonly string[]) => within.filter((line) => DECLARATION.test(line.trimEnd())).length;
  return count(lines.slice(place.from, place.to)) > count(block) ? undefined : place;
}

/** All lines, if the block has most of them, and at least half of the file's heads. */
function repeated(lines: readonly string[], block: readonly string[]): Lines | undefined {
  const known = new Set(block.map((line) => line.trim()));
  const countKnown = (some: readonly string[]) => some.filter((line) => known.has(line.trim())).length;
  const heads = headsOf(lines).map((index) => lines[index] ?? "");
  const filled = lines.filter(isText);
  if (countKnown(heads) * 2 < heads.length) return undefined;
  return Math.min(countKnown(filled), block.length) * 2 > filled.length ? { from: 0, to: lines.length } : undefined;
}

/** True when a line of the block is in the file outside `place` only: the code would be there twice. */
function repeatsOutside(lines: readonly string[], block: readonly string[], { from, to }: Lines): boolean {
  const trimmed = lines.map((line) => line.trim());
  const inside = new Set(trimmed.slice(from, to));
  const outside = new Set([...trimmed.slice(0, from), ...trimmed.slice(to)]);
  return block.some((line) => isTelling(line) && outside.has(line.trim()) && !inside.has(line.trim()));
}

/** Code of some length; other lines are repeated in many places. */
function isTelling(line: string): boolean {
  return line.trim().length >= 12 && !LEAD.test(line) && /[a-z]{3}/i.test(line);
}

/** The file's only line that equals `block[at]`, else the only one with the same declaration before its parameters. */
function lineOf(lines: readonly string[], block: readonly string[], at: number): number | undefined {
  const wanted = (block[at] ?? "").trim();
  const equal = indexesOf(lines, (line) => line.trim() === wanted);
  if (equal.length > 0) return equal.length === 1 ? equal[0] : undefined;
  const key = declarationOf(wanted);
  const declared = indexesOf(lines, (line, index) => declarationOf(line) === key && opens(lines, index));
  return key !== undefined && opens(block, at) && declared.length === 1 ? declared[0] : undefined;
}

/** Words up to the parameters or the body, such as `export function total`; undefined for fewer than two. */
function declarationOf(line: string): string | undefined {
  return /^\s*((?:[\w$]+ )+[\w$]+)\s*[(<={:]/.exec(line)?.[1];
}

function opens(lines: readonly string[], index: number): boolean {
  const next = lines.slice(index + 1).find(isText);
  return next !== undefined && indentOf(next).length > indentOf(lines[index] ?? "").length;
}

/** Line after a head's block: deeper lines, then a closing one. */
function endOf(lines: readonly string[], head: number): number {
  const indent = indentOf(lines[head] ?? "").length;
  let end = head + 1;
  for (let index = head + 1; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    if (!isText(line)) continue;
    const isDeeper = indentOf(line).length > indent;
    if (!isDeeper && !(CLOSER.test(line) && indentOf(line).length === indent)) break;
    end = index + 1;
  }
  return end;
}

/** Indexes of lines with words at the outermost indentation, without those that lead to or close others. */
function headsOf(lines: readonly string[]): readonly number[] {
  const indent = Math.min(...lines.filter(isText).map((line) => indentOf(line).length));
  return indexesOf(
    lines,
    (line) => /\w/.test(line) && indentOf(line).length === indent && !LEAD.test(line) && !CLOSER.test(line),
  );
}

function indexesOf(lines: readonly string[], fits: (line: string, index: number) => boolean): readonly number[] {
  return lines.flatMap((line, index) => (fits(line, index) ? [index] : []));
}

function linesOf(text: string, { start, end }: Span): Lines | undefined {
  if (start === end) return undefined;
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length - 1;
  // A selection that ends before the first character of a line has nothing of it.
  return { from: lineAt(start), to: lineAt(end - 1) + 1 };
}

function replaced(lines: readonly string[], { from, to }: Lines, block: readonly string[]): string {
  const lineEnd = lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
  const wanted = indentOf(lines.slice(from, to).find(isText) ?? "");
  const given = indentOf(block[0] ?? "");
  const shifted = block.map((line) => (isText(line) ? shift(line, given, wanted) : ""));
  const isEndOpen = to === lines.length && !lines.at(-1)?.endsWith("\n");
  return [...lines.slice(0, from), shifted.join(lineEnd) + (isEndOpen ? "" : lineEnd), ...lines.slice(to)].join("");
}

function shift(line: string, given: string, wanted: string): string {
  return line.startsWith(given) ? wanted + line.slice(given.length) : line;
}

export function indentOf(line = ""): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function isText(line: string): boolean {
  return line.trim() !== "";
}
