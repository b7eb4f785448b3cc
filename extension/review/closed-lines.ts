/**
 * Lines that all have a line end. A text whose last line has none ("open") would join that line with what is put in
 * behind it, and would take "a" and "a⏎" for different lines. Pure.
 */
import { type Hunk, splitLines } from "./hunks.ts";
import { joined, type Lines, refined, type Span, spanOf } from "./spans.ts";

/** Undefined for an empty text, which is neither. */
export function isOpen(text: string): boolean | undefined {
  return text === "" ? undefined : !text.endsWith("\n");
}

/** The lines of texts that are to be compared: a last line gets the line end that the same line has in another of them. */
export function closedLines(texts: readonly string[]): readonly Lines[] {
  const known = texts.map(splitLines);
  const usual = /\r?\n/.exec(texts.find((text) => text.includes("\n")) ?? "\n")?.[0] ?? "\n";
  return known.map((lines): Lines => {
    const last = lines.at(-1);
    if (last === undefined || last.endsWith("\n")) return lines;
    const same = known.flat().findLast((line) => line === `${last}\n` || line === `${last}\r\n`);
    return lines.with(-1, same ?? last + usual);
  });
}

/** The text of closed lines; an empty last line cannot do without its end. */
export function textOf(lines: Lines, open: boolean): string {
  const text = lines.join("");
  return open ? text.replace(/([^\n\r])\r?\n$/, "$1") : text;
}

/** What hunks are between closed lines: the last one may only have been about a line end. */
export function closedSpans(hunks: readonly Hunk[], old: Lines, fresh: Lines): readonly Span[] {
  const spans = hunks.map(spanOf);
  const last = spans.at(-1);
  return last === undefined ? [] : joined([...spans.slice(0, -1), ...refined(last, old, fresh)]);
}

/** Hunks between two texts from the spans of their closed lines. */
export function hunksOfSpans(spans: readonly Span[], old: Lines, fresh: Lines): readonly Hunk[] {
  return joined(withLastLines(spans, old, fresh)).map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    oldStart,
    oldLines: old.slice(oldStart, oldEnd),
    newStart,
    newLines: fresh.slice(newStart, newEnd),
  }));
}

/** Last lines that are the same but for their line end are a difference, too. */
function withLastLines(spans: readonly Span[], old: Lines, fresh: Lines): readonly Span[] {
  const last = spans.at(-1) ?? { oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 0 };
  if (old.length > last.oldEnd) {
    const [oldStart, newStart] = [old.length - 1, fresh.length - 1];
    if (old[oldStart] === fresh[newStart]) return spans;
    return [...spans, { oldStart, oldEnd: old.length, newStart, newEnd: fresh.length }];
  }
  const [oldStart, newStart] = [last.oldStart - 1, last.newStart - 1];
  if (old[oldStart] === fresh[newStart]) return spans;
  return [...spans.slice(0, -1), { ...last, oldStart, newStart }];
}
