/** Where a hunk stands in a file: behind its anchors, by the same ladder as a replacement, at one place or nowhere. */
import type { Line } from "../lines.ts";
import { ladder } from "../strategies/ladder.ts";
import { equalWindows, type LineEdit } from "../strategies/strategy.ts";
import type { Hunk } from "./patch-text.ts";

/** Places named when there is more than one. */
const NAMED_PLACES = 5;

/** Lines `first` up to `first + count - 1` of the file take the place of `oldLines`. */
export type HunkPlace = LineEdit & {
  readonly first: number;
  readonly count: number;
  /** Undefined when it stands there to the letter. */
  readonly how: string | undefined;
  /** Found by likeness: then it must be the only place. */
  readonly isSimilarity: boolean;
};

export type FoundHunk =
  | { readonly ok: true; readonly place: HunkPlace }
  | { readonly ok: false; readonly why: string; readonly isMissing: boolean };

/** Looks from line `from` on, behind the hunk before it; what is nowhere there may stand before it. */
export function findHunk(file: readonly Line[], hunk: Hunk, from: number): FoundHunk {
  const found = findFrom(file, hunk, from);
  if (found.ok || !found.isMissing || from === 0) return found;
  const before = findFrom(file, hunk, 0);
  return before.ok ? before : found;
}

function findFrom(file: readonly Line[], hunk: Hunk, from: number): FoundHunk {
  const edit: LineEdit = {
    oldLines: hunk.lines.flatMap(({ kind, text }) => (kind === "added" ? [] : [text])),
    newLines: hunk.lines.flatMap(({ kind, text }) => (kind === "removed" ? [] : [text])),
  };
  const behind = behindAnchors(file, hunk.anchors, from);
  if (!behind.ok) return behind;
  if (edit.oldLines.length === 0) return insertion(file, hunk, edit, behind.line);
  const places = findPlaces(file.slice(behind.line), edit).map((place) => ({
    ...place,
    first: place.first + behind.line,
  }));
  return choose(file, hunk, places, behind.line);
}

function choose(file: readonly Line[], hunk: Hunk, places: readonly HunkPlace[], from: number): FoundHunk {
  const meant = hunk.isAtEnd ? places.filter(({ first, count }) => first + count === file.length) : places;
  const [place] = meant;
  if (place === undefined) {
    const where = from === 0 ? "in the file" : `in the file from line ${from + 1} on, where it was looked for`;
    return missing(`its lines are not ${where}.`);
  }
  // Behind an anchor the first place is the one that is meant: that is what an anchor says.
  if (meant.length === 1 || (hunk.anchors.length > 0 && !place.isSimilarity)) return { ok: true, place };
  const lines = meant.slice(0, NAMED_PLACES).map(({ first }) => first + 1);
  const more = meant.length > NAMED_PLACES ? " …" : "";
  const why = `its lines stand at ${meant.length} places (lines ${lines.join(", ")}${more}). Give more lines around the change, or an @@ line that names what it stands in.`;
  return { ok: false, why, isMissing: false };
}

/** The line behind the last anchor. An anchor that stands at several places says nothing. */
function behindAnchors(
  file: readonly Line[],
  anchors: readonly string[],
  from: number,
): { readonly ok: true; readonly line: number } | Extract<FoundHunk, { ok: false }> {
  let line = from;
  for (const anchor of anchors) {
    const places = anchorPlaces(file, anchor, line);
    const [place] = places;
    if (place === undefined) {
      const where = line === 0 ? "" : ` from line ${line + 1} on`;
      return { ok: false, why: `its @@ line ${JSON.stringify(anchor)} is not in the file${where}.`, isMissing: true };
    }
    if (places.length > 1) {
      const lines = places.slice(0, NAMED_PLACES).map((index) => index + 1);
      const why = `its @@ line ${JSON.stringify(anchor)} stands at ${places.length} places (lines ${lines.join(", ")}). Name what is around it with an @@ line before.`;
      return { ok: false, why, isMissing: false };
    }
    line = place;
  }
  // The anchor's own line may be the first of the hunk.
  return { ok: true, line };
}

/** Lines that are the anchor; when there is none, those that hold it. */
function anchorPlaces(file: readonly Line[], anchor: string, from: number): readonly number[] {
  const matching = (isMatch: (line: string) => boolean): readonly number[] =>
    file.flatMap(({ text }, index) => (index >= from && isMatch(text) ? [index] : []));
  const equal = matching((line) => line.trim() === anchor);
  return equal.length > 0 ? equal : matching((line) => line.includes(anchor));
}

/** Nothing is taken away and nothing said around it: only an anchor or the file's end says where. */
function insertion(file: readonly Line[], hunk: Hunk, edit: LineEdit, anchorLine: number): FoundHunk {
  if (hunk.anchors.length > 0 && !hunk.isAtEnd) {
    return { ok: true, place: { ...edit, first: anchorLine + 1, count: 0, how: undefined, isSimilarity: false } };
  }
  if (hunk.isAtEnd || file.length === 0) {
    return { ok: true, place: { ...edit, first: file.length, count: 0, how: undefined, isSimilarity: false } };
  }
  const why = "it only adds lines and does not say where. Give a line before or after them, or an @@ line.";
  return { ok: false, why, isMissing: false };
}

function findPlaces(file: readonly Line[], edit: LineEdit): readonly HunkPlace[] {
  const exact = equalWindows(file, edit.oldLines, (line) => line);
  if (exact.length > 0) return exact.map((window) => ({ ...window, ...edit, how: undefined, isSimilarity: false }));
  for (const strategy of ladder) {
    const prepared = strategy.prepare === undefined ? edit : strategy.prepare(edit);
    if (prepared === undefined) continue;
    const windows = strategy.find(file, prepared.oldLines);
    const { how, isSimilarity } = strategy;
    if (windows.length > 0) return windows.map((window) => ({ ...window, ...prepared, how, isSimilarity }));
  }
  return [];
}

function missing(why: string): FoundHunk {
  return { ok: false, why, isMissing: true };
}
