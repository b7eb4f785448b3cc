/** Puts hunks into a text: each is found once, behind the one before it, or the whole is refused. Pure. */
import { diffArrays } from "diff";
import { reindenter } from "../fit-lines.ts";
import { type Line, linesOf } from "../lines.ts";
import { nearestText } from "../nearest-text.ts";
import { findHunk, type HunkPlace } from "./find-hunk.ts";
import type { Hunk } from "./patch-text.ts";

export type Applied =
  /** `how` says for each hunk that was not found to the letter how it was. */
  | { readonly ok: true; readonly text: string; readonly how: readonly string[] }
  | { readonly ok: false; readonly text: string };

/** A line with the break that ends it; the last one of a file may have none. */
type Ended = { readonly text: string; readonly end: string };

export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const file = linesOf(text);
  const places: HunkPlace[] = [];
  const how: string[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? "its hunk" : `hunk ${index + 1} of ${hunks.length}`;
    const last = places.at(-1);
    const found = findHunk(file, hunk, last === undefined ? 0 : last.first + last.count);
    if (!found.ok) return { ok: false, text: refusal(name, found, text, hunk) };
    const { place } = found;
    if (places.some((other) => overlap(other, place))) {
      return { ok: false, text: `${name}: it changes lines that another hunk changes too. Put them into one.` };
    }
    if (place.how !== undefined) how.push(`${name} was found ${place.how}`);
    places.push(place);
  }
  return { ok: true, text: changed(text, file, places), how };
}

function overlap(one: HunkPlace, other: HunkPlace): boolean {
  return one.first < other.first + other.count && other.first < one.first + one.count;
}

function changed(text: string, file: readonly Line[], places: readonly HunkPlace[]): string {
  const [line] = file;
  const lineBreak = line !== undefined && breakOf(text, file, 0) === "\r\n" ? "\r\n" : "\n";
  const parts: string[] = [];
  let from = 0;
  for (const place of places.toSorted((one, other) => one.first - other.first)) {
    const start = file[place.first]?.start ?? text.length;
    parts.push(text.slice(from, start));
    // A last line without a break gets one when lines come after it.
    if (start === text.length && text !== "" && !text.endsWith("\n")) parts.push(lineBreak);
    parts.push(...edited(text, file, place, lineBreak).map(({ text: line, end }) => line + (end || lineBreak)));
    from = file[place.first + place.count]?.start ?? text.length;
  }
  const whole = parts.join("") + text.slice(from);
  // The file keeps its last line break, or its lack of one.
  return text === "" || text.endsWith("\n") ? whole : whole.replace(/\r?\n$/, "");
}

function breakOf(text: string, file: readonly Line[], index: number): string {
  return text.slice(file[index]?.end, file[index + 1]?.start ?? text.length);
}

/** The lines at a place with those that go taken out and those that come put in; all others stay byte for byte. */
function edited(text: string, file: readonly Line[], place: HunkPlace, lineBreak: string): Ended[] {
  const { first, count, oldLines, newLines } = place;
  const given = file
    .slice(first, first + count)
    .map((line, index): Ended => ({ text: line.text, end: breakOf(text, file, first + index) }));
  const reindent = reindenter(
    given.map((line) => line.text),
    oldLines,
  );
  const lines: Ended[] = [];
  let at = 0;
  for (const { added, removed, value } of diffArrays([...oldLines], [...newLines])) {
    const end = given[at]?.end || given[at - 1]?.end || lineBreak;
    if (added) lines.push(...value.map((line) => ({ text: reindent(line), end })));
    else if (!removed) lines.push(...given.slice(at, at + value.length));
    if (!added) at += value.length;
  }
  return lines;
}

function refusal(
  name: string,
  found: { readonly why: string; readonly isMissing: boolean },
  text: string,
  hunk: Hunk,
): string {
  if (!found.isMissing) return `${name}: ${found.why}`;
  const wanted = hunk.lines.flatMap((line) => (line.kind === "added" ? [] : [line.text])).join("\n");
  const near = nearestText(text, wanted);
  const hint = near === undefined ? "Read the file again." : `The nearest text is at line ${near.line}:\n${near.text}`;
  return `${name}: ${found.why} ${hint}`;
}
