/**
 * Applies hunks to a text: each has one place, after the one before it, or all are refused. A place is within the hunk's
 * anchors, and found by the same fallbacks as a replacement. Pure.
 */
import { equalWindows, findByFallbacks, type LineEdit } from "../find-by-fallbacks.ts";
import { fitLines, type Margins } from "../fit-lines.ts";
import { type EndedLine, inMarksOf } from "../line-breaks.ts";
import { nearestText } from "../nearest-text.ts";
import { indentOf, TextLines } from "../text-lines.ts";
import type { Hunk } from "./parse-patch.ts";

export type Applied =
  /** `how`: for each hunk without an exact match, how it was found, or that it was applied before. */
  | { readonly ok: true; readonly text: string; readonly how: readonly string[] }
  | { readonly ok: false; readonly text: string };

/** A hunk without the lines around it that stay: hunks may share these. */
type Change = Margins & { readonly first: number; readonly count: number; readonly place: HunkPlace };

/** A text and the changes that hunks make to it. */
type Draft = {
  readonly file: TextLines;
  readonly changes: readonly (Change & { readonly lines: readonly EndedLine[] })[];
};

type PlacedHunk =
  /** `how`: undefined for an exact match. */
  | { readonly ok: true; readonly draft: Draft; readonly how: string | undefined }
  | { readonly ok: false; readonly text: string; readonly isMissing: boolean };

/** A later hunk may build on the result of the earlier ones. */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  let draft: Draft = { file: new TextLines(text), changes: [] };
  const how: string[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? "its hunk" : `hunk ${index + 1} of ${hunks.length}`;
    const placed = placeInOrder(draft, hunk);
    if (!placed.ok) return { ok: false, text: `${name}: ${placed.text}` };
    if (placed.how !== undefined) how.push(`${name} ${placed.how}`);
    draft = placed.draft;
  }
  return { ok: true, text: changed(draft), how };
}

/** Prefers exact lines: those before the changes of the earlier hunks, then those after them. */
function placeInOrder(draft: Draft, hunk: Hunk): PlacedHunk {
  const placed = placeHunk(draft, hunk);
  if (placed.ok && placed.how === undefined) return placed;
  if (draft.changes.length > 0) {
    const built = placeHunk({ file: new TextLines(changed(draft)), changes: [] }, hunk);
    if (built.ok && built.how === undefined) return built;
  }
  const isDone = !placed.ok && placed.isMissing && isApplied(draft.file, hunk);
  return isDone ? { ok: true, draft, how: "is already applied" } : placed;
}

function placeHunk({ file, changes }: Draft, hunk: Hunk): PlacedHunk {
  const last = changes.at(-1);
  const found = findHunk(file, hunk, last === undefined ? 0 : last.first + last.count);
  if (!found.ok) return { ok: false, text: refusal(found, file, hunk), isMissing: found.isMissing };
  const change = changeAt(found.place);
  const end = change.first + change.count;
  if (changes.some((other) => other.first < end && change.first < other.first + other.count)) {
    const text = "it changes lines that another hunk changes too. Put them into one.";
    return { ok: false, text, isMissing: false };
  }
  const fitted = fitLines(file, change.place, change);
  if (!fitted.ok) return { ...fitted, isMissing: false };
  const { how } = found.place;
  const draft = { file, changes: [...changes, { ...change, lines: fitted.lines }] };
  return { ok: true, draft, how: how === undefined ? undefined : `was found ${how}` };
}

/** The text with all hunks applied; undefined unless it has the exact lines of each hunk once. */
export function applyHunksExactly(text: string, hunks: readonly Hunk[]): string | undefined {
  const file = new TextLines(text);
  const isUnique = (hunk: Hunk): boolean => exactPlaces(file, editOf(file, hunk).oldLines).length === 1;
  if (hunks.every(isUnique)) {
    const applied = applyHunks(text, hunks);
    return applied.ok && applied.how.length === 0 ? applied.text : undefined;
  }
  if (hunks.length < 2) return undefined;
  // A later hunk may build on the result of the earlier ones.
  let built: string | undefined = text;
  for (const hunk of hunks) built = built === undefined ? undefined : applyHunksExactly(built, [hunk]);
  return built;
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

function changed({ file, changes }: Draft): string {
  const { text } = file;
  const parts: string[] = [];
  let from = 0;
  for (const change of changes.toSorted((one, other) => one.first - other.first)) {
    const start = file.start(change.first);
    parts.push(text.slice(from, start));
    const { lines } = change;
    // A last line without a break gets one when lines come after it.
    if (start === text.length && text !== "" && !text.endsWith("\n")) parts.push(lines[0]?.end || "");
    parts.push(...lines.map(({ text: line, end }) => line + (end || file.breakNear(change.first))));
    from = file.start(change.first + change.count);
  }
  const whole = parts.join("") + text.slice(from);
  // The file keeps its last line break, or its lack of one.
  return text === "" || text.endsWith("\n") ? whole : whole.replace(/\r?\n$/, "");
}

function refusal({ why, isMissing }: Extract<FoundHunk, { ok: false }>, file: TextLines, hunk: Hunk): string {
  if (!isMissing) return why;
  const near = nearestText(file, editOf(file, hunk).oldLines.join("\n"));
  const hint = near === undefined ? "Read the file again." : `The nearest text is at line ${near.line}:\n${near.text}`;
  return `${why} ${hint}`;
}

/** Places named when there is more than one. */
const NAMED_PLACES = 5;

/** Lines `first` up to `first + count - 1` of the file match `oldLines`. */
type HunkPlace = LineEdit & {
  readonly first: number;
  readonly count: number;
  /** Undefined for an exact match. */
  readonly how: string | undefined;
  /** True for a match by likeness: it must be the only place. */
  readonly isSimilarity: boolean;
};

type FoundHunk =
  | { readonly ok: true; readonly place: HunkPlace }
  | { readonly ok: false; readonly why: string; readonly isMissing: boolean };

/** Lines `from` up to `to - 1`: the block that an anchor names. Lines after it come second. */
type Scope = { readonly from: number; readonly to: number };

/** Several scopes where an anchor is at several places; `rivals` then says so. */
type FoundScopes =
  | { readonly ok: true; readonly scopes: readonly Scope[]; readonly rivals?: string }
  | Extract<FoundHunk, { ok: false }>;

/** Prefers places from line `from` on, after the hunk before it; a hunk that is not there may be before it. */
function findHunk(file: TextLines, hunk: Hunk, from: number): FoundHunk {
  const behind = anchoredScopes(file, hunk.anchors, from);
  // A second hunk may name the same anchor again.
  const found = behind.ok || from === 0 ? behind : anchoredScopes(file, hunk.anchors, 0);
  if (!found.ok) return found;
  const { scopes, rivals } = found;
  const firstScope = scopes[0]?.from ?? 0;
  const edit = editOf(file, hunk);
  if (edit.oldLines.length === 0) {
    return rivals === undefined
      ? insertion(file, hunk, edit, firstScope)
      : { ok: false, why: rivals, isMissing: false };
  }
  const firstLine = hunk.anchors.length === 0 ? 0 : firstScope;
  const isInScope = ({ first }: HunkPlace): boolean => scopes.some((scope) => first >= scope.from && first < scope.to);
  const places = findPlaces(file, edit).filter(({ first }) => first >= firstLine);
  const meant = hunk.isAtEnd ? places.filter(({ first, count }) => first + count === file.length) : places;
  const place = hunk.anchors.length === 0 ? "" : " behind its @@ line";
  if (meant.length === 0) return missing(`its lines are not in the file${hunk.isAtEnd ? " at its end" : place}.`);
  return choose(meant, [
    (place) => place.first >= from && isInScope(place),
    isInScope,
    ({ first }) => first >= from,
    () => true,
  ]);
}

/** True when the file has the hunk's result exactly once already, and the hunk adds a word. */
function isApplied(file: TextLines, hunk: Hunk): boolean {
  const addsWord = hunk.lines.some(({ kind, text }) => kind === "added" && /\w{3}/.test(text));
  return addsWord && exactPlaces(file, editOf(file, hunk).newLines).length === 1;
}

function editOf(file: TextLines, { lines }: Hunk): LineEdit {
  return {
    oldLines: lines.flatMap(({ kind, text }) => (kind === "added" ? [] : [inMarksOf(file.text, text)])),
    newLines: lines.flatMap(({ kind, text }) => (kind === "removed" ? [] : [inMarksOf(file.text, text)])),
  };
}

/** The only place that the first fitting preference leaves. A place found by likeness must be the only one. */
function choose(places: readonly HunkPlace[], preferences: readonly ((place: HunkPlace) => boolean)[]): FoundHunk {
  const preferred = preferences.map((isMeant) => places.filter(isMeant)).find((some) => some.length > 0) ?? [];
  const [place] = preferred;
  const rivals = place?.isSimilarity ? places : preferred;
  if (place !== undefined && rivals.length === 1) return { ok: true, place };
  const why = `its lines are at ${namedPlaces(rivals.map(({ first }) => first))}. Give more lines around the change, or an @@ line that names the block around it.`;
  return { ok: false, why, isMissing: false };
}

/** The blocks that the last anchor names: several where it is at several places, and the hunk's own lines must decide. */
function anchoredScopes(file: TextLines, anchors: readonly string[], from: number): FoundScopes {
  let scopes: readonly Scope[] = [{ from, to: file.length }];
  let rivals: string | undefined;
  for (const anchor of anchors) {
    const first = scopes[0]?.from ?? 0;
    const places = anchorPlaces(file, anchor, first);
    const inner = places.filter((line) => scopes.some((scope) => line >= scope.from && line < scope.to));
    const named = inner.length > 0 ? inner : places;
    if (named.length === 0) {
      const where = first === 0 ? "" : ` from line ${first + 1} on`;
      return missing(`its @@ line ${JSON.stringify(anchor)} is not in the file${where}.`);
    }
    rivals =
      named.length === 1
        ? undefined
        : `its @@ line ${JSON.stringify(anchor)} is at ${namedPlaces(named)}. Name the block around it with an @@ line before it.`;
    // The anchor's own line may be the first of the hunk.
    scopes = named.map((line) => ({ from: line, to: blockEnd(file, line) }));
  }
  return { ok: true, scopes, ...(rivals !== undefined && { rivals }) };
}

/** Lines that equal the anchor; without any, lines that contain it. */
function anchorPlaces(file: TextLines, anchor: string, from: number): readonly number[] {
  const holding = [...file.holding(anchor, from)];
  const equal = holding.filter((line) => file.at(line).trim() === anchor);
  return equal.length > 0 ? equal : holding;
}

/** A hunk without old lines: only an anchor or the file's end names its place. */
function insertion(file: TextLines, hunk: Hunk, edit: LineEdit, anchorLine: number): FoundHunk {
  if (hunk.anchors.length > 0 && !hunk.isAtEnd) {
    return { ok: true, place: { ...edit, first: anchorLine + 1, count: 0, how: undefined, isSimilarity: false } };
  }
  if (hunk.isAtEnd || file.length === 0) {
    return { ok: true, place: { ...edit, first: file.length, count: 0, how: undefined, isSimilarity: false } };
  }
  const why = "it only adds lines and does not say where. Give a line before or after them, or an @@ line.";
  return { ok: false, why, isMissing: false };
}

function findPlaces(file: TextLines, edit: LineEdit): readonly HunkPlace[] {
  const exact = exactPlaces(file, edit.oldLines);
  if (exact.length > 0) return exact.map((window) => ({ ...window, ...edit, how: undefined, isSimilarity: false }));
  const found = findByFallbacks(file, edit);
  if (found === undefined) return [];
  const { how, isSimilarity } = found;
  return found.windows.map((window) => ({ ...window, ...found.edit, how, isSimilarity }));
}

function exactPlaces(file: TextLines, lines: readonly string[]) {
  return equalWindows(file, lines, (line) => line);
}

function namedPlaces(places: readonly number[]): string {
  const lines = places.slice(0, NAMED_PLACES).map((line) => line + 1);
  return `${places.length} places (lines ${lines.join(", ")}${places.length > NAMED_PLACES ? " …" : ""})`;
}

function missing(why: string): Extract<FoundHunk, { ok: false }> {
  return { ok: false, why, isMissing: true };
}

/** Lines as deep as the first that continue its block: an opening bracket, the rest of a long signature. */
const CONTINUES = /^(?:[{)\]]|\}.*[{:]$)/;
/** The last line of a block. */
const CLOSES = /^(?:\}|end\b)/;

/** The first line after the block that line `first` begins: by indentation, with a closing bracket. */
function blockEnd(file: TextLines, first: number): number {
  const depth = indentOf(file.at(first)).length;
  for (let line = first + 1; line < file.length; line += 1) {
    const text = file.at(line);
    const content = text.trim();
    if (content === "" || indentOf(text).length > depth || CONTINUES.test(content)) continue;
    return CLOSES.test(content) ? line + 1 : line;
  }
  return file.length;
}
