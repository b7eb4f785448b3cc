/** Line breaks of new text: lines that stay keep theirs, and others take those of their neighbours. */
import { withoutMark } from "../../host/decode-file.ts";
import { hunksOfLines } from "../../platform/hunks.ts";

/** A line with its line break; the last one of a text may have none. */
export type EndedLine = { readonly text: string; readonly end: string };

/**
 * A line of an edited text; `replaces` is the index of the old line whose place a new line takes, and `isPaired` says
 * that as many new lines take the place of as many old ones.
 */
export type AlignedLine = EndedLine & { readonly isNew: boolean; readonly replaces?: number; readonly isPaired?: true };

export type LineAlignment = {
  /** Lines of the file, one for each of `oldLines`. */
  readonly given: readonly EndedLine[];
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** Number of lines at the start of both that stay and are left out of the result. Default: 0. */
  readonly head?: number;
  /** Number of such lines at the end. Default: 0. */
  readonly tail?: number;
  /** Line break where no neighbour has one. */
  readonly around: string;
};

/** New lines with their line breaks; lines that the edit keeps are the file's. */
export function alignLines(alignment: LineAlignment): readonly AlignedLine[] {
  const { given, oldLines, newLines, head = 0, tail = 0 } = alignment;
  const inner = (lines: readonly string[]): string[] => lines.slice(head, lines.length - tail);
  const [before, after] = [inner(oldLines), inner(newLines)];
  const kept = (from: number, to: number): AlignedLine[] =>
    given.slice(from, to).map((line) => ({ ...line, isNew: false }));
  const aligned: AlignedLine[] = [];
  let end = head;
  for (const { oldStart, oldLines: gone, newLines: lines } of hunksOfLines(before, after)) {
    aligned.push(...kept(end, head + oldStart));
    end = head + oldStart + gone.length;
    aligned.push(...addedLines(lines, { ...alignment, at: end, replaced: gone.length }));
  }
  return [...aligned, ...kept(end, head + before.length)];
}

/** Lines before the line `at`, in place of the last `replaced` lines before it. */
type Addition = Pick<LineAlignment, "given" | "around"> & { readonly at: number; readonly replaced: number };

function addedLines(lines: readonly string[], { given, around, at, replaced }: Addition): readonly AlignedLine[] {
  const first = at - replaced;
  return lines.map((text, index) => {
    // A line that replaces another gets its line break; an inserted one that of the line before.
    const near = [given[first + Math.min(index, replaced - 1)], given[at - 1], given[at], given[at - 2]];
    const end = near.find((line) => line !== undefined && line.end !== "")?.end ?? around;
    const place = index < replaced ? { replaces: first + index } : {};
    return { text, end, isNew: true, ...place, ...(lines.length === replaced && { isPaired: true }) };
  });
}

/** One text of lines; the last one is left without its line break. */
export function joinLines(lines: readonly EndedLine[], around: string): string {
  return lines.map(({ text, end }, index) => (index === lines.length - 1 ? text : text + (end || around))).join("");
}

/** `text` without a byte order mark before it, unless the file has such characters within its text. */
export function inMarksOf(present: string, text: string): string {
  return present.includes("\ufeff") ? text : withoutMark(text);
}

/** Line break of all lines of a text; undefined for a text without one. */
export function breakKind(text: string): "\n" | "\r\n" | "mixed" | undefined {
  if (!text.includes("\n")) return undefined;
  if (!text.includes("\r\n")) return "\n";
  return /(^|[^\r])\n/.test(text) ? "mixed" : "\r\n";
}

/** `text` in the line breaks of the text that it replaces. */
export function inBreaksOf(present: string, text: string): string {
  const kind = breakKind(present);
  if (kind === undefined) return text;
  const plain = text.replace(/\r\n/g, "\n");
  if (kind === "\n") return plain;
  return kind === "\r\n" ? plain.replace(/\n/g, "\r\n") : inMixedBreaks(present, plain, breakAt(present, 0));
}

/** `around`: line break where neither text has one. */
export function inMixedBreaks(present: string, text: string, around: string): string {
  const given = endedLines(present);
  const oldLines = given.map((line) => line.text);
  return joinLines(alignLines({ given, oldLines, newLines: text.split(/\r?\n/), around }), around);
}

/** Line break of the line at an offset; without one, that of the line before. */
export function breakAt(text: string, offset: number): "\n" | "\r\n" {
  const next = text.indexOf("\n", offset);
  const at = next < 0 ? text.lastIndexOf("\n", offset) : next;
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}

function endedLines(text: string): readonly EndedLine[] {
  const parts = text.split(/(\r?\n)/);
  return Array.from({ length: Math.ceil(parts.length / 2) }, (_, index) => ({
    text: parts[2 * index] ?? "",
    end: parts[2 * index + 1] ?? "",
  }));
}
