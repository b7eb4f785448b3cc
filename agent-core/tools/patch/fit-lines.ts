/**
 * The new lines for a place of a file: lines that the edit leaves alone stay as the file has them, with their line
 * breaks; the others are indented and ended as the place is.
 */
import { diffArrays } from "diff";
import type { TextLines } from "./lines.ts";
import { reindenter } from "./reindent.ts";
import type { LineEdit, Window } from "./strategies/strategy.ts";

/** A line with the break that ends it; the last one of a file may have none. */
export type EndedLine = { readonly text: string; readonly end: string };

/** Lines at the edges of an edit that stay and are not given. */
export type Margins = { readonly head: number; readonly tail: number };

/** `first` and `count` say which lines of the file `oldLines` are. */
export function fitLines(
  file: TextLines,
  { first, count, oldLines, newLines }: Window & LineEdit,
  { head, tail }: Margins = { head: 0, tail: 0 },
): readonly EndedLine[] {
  const there = file.slice(first, count);
  const given = there.map((text, index): EndedLine => ({ text, end: file.breakOf(first + index) }));
  const reindent = reindenter({ given: there, oldLines, newLines });
  const inner = (lines: readonly string[]): string[] => lines.slice(head, lines.length - tail);
  const fitted: EndedLine[] = [];
  let at = head;
  let replaced = 0;
  for (const { added, removed, value } of diffArrays(inner(oldLines), inner(newLines))) {
    if (added) {
      // A line that takes another's place ends as that did; one that is put in ends as the line before.
      const endOf = (index: number): string | undefined => given[at - replaced + Math.min(index, replaced - 1)]?.end;
      const ends = value.map((_, index) => endOf(index) || given[at - 1]?.end || given[at]?.end || usualBreak(file));
      fitted.push(...value.map((line, index) => ({ text: reindent(line), end: ends[index] ?? "" })));
    } else if (!removed) fitted.push(...given.slice(at, at + value.length));
    replaced = removed ? value.length : 0;
    if (!added) at += value.length;
  }
  return fitted;
}

/** The line break of a file's first line. */
export function usualBreak(file: TextLines): string {
  return file.breakOf(0) === "\r\n" ? "\r\n" : "\n";
}
