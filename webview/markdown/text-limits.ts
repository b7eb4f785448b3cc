/** Limits of one part of a block, so that no text blocks the panel, and the lines that a further part repeats. */
import { type FenceInfo, fenceInfo } from "./parser.ts";

export type TextLimit = { readonly chars: number; readonly lines: number };

/** A part of this size takes the browser about 20 ms; a longer block is rendered part by part. */
export const TEXT_LIMIT: TextLimit = { chars: 20_000, lines: 200 };

/** Code is one node of text, so a part of it may be longer. */
export const CODE_LIMIT: TextLimit = { chars: 50_000, lines: 1_000 };

/** Length of the beginning of `text` that a limit allows. It ends at a line end, else at a space, else anywhere. */
export function fittingLength(text: string, { chars, lines }: TextLimit): number {
  let [end, line] = [0, 0];
  for (; line < lines; line += 1) {
    const next = text.indexOf("\n", end) + 1;
    if (next === 0) return text.length <= chars ? text.length : end || lengthInLine(text, chars);
    if (next > chars) return end || lengthInLine(text, chars);
    end = next;
  }
  return end;
}

function lengthInLine(line: string, chars: number): number {
  const space = line.lastIndexOf(" ", chars - 1) + 1;
  if (space > chars / 2) return space;
  const isSurrogatePair = /[\ud800-\udbff]/.test(line[chars - 1] ?? "");
  return isSurrogatePair ? chars - 1 : chars;
}

export type Fence = {
  /** Run of backticks or tildes. */
  readonly mark: string;
  readonly info: FenceInfo;
  /** Offset of the code. */
  readonly start: number;
};

/** Fence at the beginning of `text`, without indentation; undefined for other text. */
export function openingFence(text: string): Fence | undefined {
  const opening = /^(?:[ \t]*\n)*(`{3,}|~{3,})([^\n]{0,1000})\n/.exec(text);
  const [all = "", mark, info = ""] = opening ?? [];
  if (mark === undefined || (mark.startsWith("`") && info.includes("`"))) return undefined;
  return { mark, info: fenceInfo(info), start: all.length };
}

/** Offsets of the line that closes the fence; undefined while it is open. */
export function closingFence(code: string, mark: string): { readonly start: number; readonly end: number } | undefined {
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*(?:\\n|(?![\\s\\S]))`, "m").exec(code);
  return closing === null ? undefined : { start: closing.index, end: closing.index + closing[0].length };
}

/** First line of the fence in a list that is open at the end of `text`. Deeper code than three spaces is left as it is. */
export function openFenceLine(text: string): string | undefined {
  let open: { readonly line: string; readonly mark: string } | undefined;
  for (const line of text.split("\n")) {
    const [, lead = "", mark = "", info = ""] =
      /^((?: {0,3}(?:[-*+]|\d{1,9}[.)]))? {0,3})(`{3,}|~{3,})([^`]*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (line.trim() === open.mark) open = undefined;
    } else if (mark !== "") open = { line: `${" ".repeat(Math.min(3, lead.length))}${mark}${info}\n`, mark };
  }
  return open?.line;
}

/** A longer header is not repeated. Characters. */
const HEADER_CHARS = 2_000;

/** Header and delimiter row of a table, which begins `table`. */
export function tableHeader(table: string): string {
  const header = /^\s*[^\n]*\n[^\n]*\n/.exec(table)?.[0] ?? "";
  return header.length <= HEADER_CHARS ? header : "";
}
