/** Applies hunks to a text: each has one place, after the one before it, or all are refused. Pure. */
import { fitLines, type Margins, usualBreak } from "../fit-lines.ts";
import { nearestText } from "../nearest-text.ts";
import { TextLines } from "../text-lines.ts";
import { findHunk, type HunkPlace, isApplied, isUnique } from "./find-hunk.ts";
import type { Hunk } from "./parse-patch.ts";

export type Applied =
  /** `how`: for each hunk without an exact match, the way it was found, or that it was applied before. */
  | { readonly ok: true; readonly text: string; readonly how: readonly string[] }
  | { readonly ok: false; readonly text: string };

/** A hunk without the lines around it that stay: hunks may share these. */
type Change = Margins & { readonly first: number; readonly count: number; readonly place: HunkPlace };

export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const file = new TextLines(text);
  const changes: Change[] = [];
  const how: string[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? "its hunk" : `hunk ${index + 1} of ${hunks.length}`;
    const last = changes.at(-1);
    const found = findHunk(file, hunk, last === undefined ? 0 : last.first + last.count);
    if (!found.ok && found.isMissing && isApplied(file, hunk)) {
      how.push(`${name} is already applied`);
      continue;
    }
    if (!found.ok) return { ok: false, text: refusal(name, found, file, hunk) };
    const change = changeAt(found.place);
    if (changes.some((other) => overlap(other, change))) {
      return { ok: false, text: `${name}: it changes lines that another hunk changes too. Put them into one.` };
    }
    if (found.place.how !== undefined) how.push(`${name} was found ${found.place.how}`);
    changes.push(change);
  }
  return { ok: true, text: changed(file, changes), how };
}

/** The text with all hunks applied; undefined unless the file has the exact lines of each hunk once. */
export function applyHunksExactly(text: string, hunks: readonly Hunk[]): string | undefined {
  const file = new TextLines(text);
  if (!hunks.every((hunk) => isUnique(file, hunk))) return undefined;
  const applied = applyHunks(text, hunks);
  return applied.ok && applied.how.length === 0 ? applied.text : undefined;
}

function changeAt(place: HunkPlace): Change {
  const { oldLines, newLines, first, count } = place;
  const shorter = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shorter && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  return { first: first + head, count: count - head - tail, place, head, tail };
}

function overlap(one: Change, other: Change): boolean {
  return one.first < other.first + other.count && other.first < one.first + one.count;
}

function changed(file: TextLines, changes: readonly Change[]): string {
  const { text } = file;
  const parts: string[] = [];
  let from = 0;
  for (const change of changes.toSorted((one, other) => one.first - other.first)) {
    const start = file.start(change.first);
    parts.push(text.slice(from, start));
    const lines = fitLines(file, change.place, change);
    // A last line without a break gets one when lines come after it.
    if (start === text.length && text !== "" && !text.endsWith("\n")) parts.push(lines[0]?.end || "");
    parts.push(...lines.map(({ text: line, end }) => line + (end || usualBreak(file))));
    from = file.start(change.first + change.count);
  }
  const whole = parts.join("") + text.slice(from);
  // The file keeps its last line break, or its lack of one.
  return text === "" || text.endsWith("\n") ? whole : whole.replace(/\r?\n$/, "");
}

function refusal(
  name: string,
  found: { readonly why: string; readonly isMissing: boolean },
  file: TextLines,
  hunk: Hunk,
): string {
  if (!found.isMissing) return `${name}: ${found.why}`;
  const wanted = hunk.lines.flatMap((line) => (line.kind === "added" ? [] : [line.text])).join("\n");
  const near = nearestText(file, wanted);
  const hint = near === undefined ? "Read the file again." : `The nearest text is at line ${near.line}:\n${near.text}`;
  return `${name}: ${found.why} ${hint}`;
}
