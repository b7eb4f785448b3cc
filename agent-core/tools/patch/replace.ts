/** Replacing text in a file: at its one place, or refused with advice. Pure. */
import { escapePattern } from "../../platform/escape-pattern.ts";
import { findByFallbacks, type LineEdit, type Window } from "./find-by-fallbacks.ts";
import { type FittedLines, fitLines } from "./fit-lines.ts";
import { breakAt, breakKind, inMarksOf, inMixedBreaks, joinLines } from "./line-breaks.ts";
import { nearestText } from "./nearest-text.ts";
import { TextLines } from "./text-lines.ts";

export type Replacement =
  /** `how`: method by which the text was found, if the file does not have it exactly. */
  | { readonly kind: "changed"; readonly newText: string; readonly count: number; readonly how?: string }
  | { readonly kind: "already"; readonly text: string }
  | { readonly kind: "refused"; readonly text: string };

export type ReplaceRequest = { readonly oldString: string; readonly newString: string; readonly replaceAll: boolean };

/** Places that a refusal names when the text is not unique. */
const NAMED_PLACES = 5;
/** Lines without a word, such as brackets, are in many files by chance. */
const WORD = /\w{3}/;
/** Line numbers as read_file shows them, copied along. */
const NUMBERED = /^\s*\d+\|/;

export function replaceText(text: string, request: ReplaceRequest): Replacement {
  const { oldString, newString } = inFileForm(text, request);
  if (oldString === newString) return refused("old_string and new_string are the same; there is nothing to change.");
  const places = findAll(text, oldString);
  if (places.length === 0) return replaceInexact(text, { ...request, oldString, newString });
  if (places.length > 1 && !request.replaceAll) {
    return ambiguous(
      text,
      places.map(({ start }) => start),
    );
  }
  const apart = withoutOverlaps(places);
  return { kind: "changed", newText: spliceNew(text, apart, newString), count: apart.length };
}

/** The text with its one exact place replaced; undefined unless there is exactly one. */
export function replaceExactly(text: string, request: ReplaceRequest): string | undefined {
  const { oldString, newString } = inFileForm(text, request);
  const places = findAll(text, oldString);
  return places.length !== 1 || oldString === newString ? undefined : spliceNew(text, places, newString);
}

/** In a file that mixes line breaks, each place has its own. */
function spliceNew(text: string, places: readonly Span[], newString: string): string {
  const wholeLines = places.flatMap((place) => wholeLinesAt(text, place) ?? []);
  if (newString === "" && wholeLines.length === places.length) {
    return splice(
      text,
      wholeLines.map((lines) => ({ ...lines, replacement: "" })),
    );
  }
  const isMixed = breakKind(text) === "mixed";
  const replacements = places.map((place) => {
    const { start, end } = place;
    const fitted = dedentedLine(text, place, newString);
    if (fitted !== undefined) return fitted;
    const replacement = isMixed ? inMixedBreaks(text.slice(start, end), newString, breakAt(text, start)) : newString;
    return { start, end, replacement };
  });
  return splice(text, replacements);
}

/** The lines of a place with one line break; undefined for parts of lines. Blanks around it count as its own. */
function wholeLinesAt(text: string, { start, end }: Span): Span | undefined {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const rest = /[ \t]*(?:\r?\n|$)/y;
  rest.lastIndex = end;
  if (text.slice(lineStart, start).trim() !== "" || /[\r\n]/.test(text[start] ?? "")) return undefined;
  if (text[end - 1] === "\n") return { start: lineStart, end };
  const found = rest.exec(text);
  return found === null ? undefined : { start: lineStart, end: end + found[0].length };
}

/**
 * A line that the model wrote without its indentation, and new lines that it wrote so, too: the next ones are not as deep as
 * the line itself. Undefined for any other place.
 */
function dedentedLine(text: string, place: Span, newString: string): Placed | undefined {
  const oldLine = text.slice(place.start, place.end);
  const whole = oldLine.includes("\n") ? undefined : wholeLinesAt(text, place);
  const indent = whole === undefined ? "" : text.slice(whole.start, place.start);
  const newLines = newString.split(/\r?\n/);
  const [, ...further] = newLines.slice(0, newLines.findIndex((line) => line.trim() === "") >>> 0);
  if (indent === "" || further.every((line) => line.startsWith(indent))) return undefined;
  const file = new TextLines(text);
  const placed = placeOf(file, { first: file.indexAt(place.start), count: 1 }, { oldLines: [oldLine], newLines });
  return placed.ok ? placed : undefined;
}

/** No exact place: the first fallback that finds anything decides. */
function replaceInexact(text: string, { oldString, newString, replaceAll }: ReplaceRequest): Replacement {
  if (hasLines(text, newString)) {
    return { kind: "already", text: "The file already contains new_string and not old_string; nothing was changed." };
  }
  const file = new TextLines(text);
  const edit = linesOf(oldString, newString);
  const found = edit.oldLines.length === 0 ? undefined : findByFallbacks(file, edit);
  if (found === undefined) return notFound(file, oldString);
  const places: Placed[] = [];
  for (const window of found.windows) {
    const placed = placeOf(file, window, found.edit);
    if (!placed.ok) return refused(`old_string is not in the file: ${placed.text}`);
    places.push(placed);
  }
  if (places.length > 1 && (!replaceAll || found.isSimilarity)) {
    return ambiguous(
      text,
      places.map(({ start }) => start),
    );
  }
  const apart = withoutOverlaps(places);
  const newText = splice(text, apart);
  if (newText === text) {
    return refused("old_string and new_string differ in blanks only, and the file already has them.");
  }
  return { kind: "changed", newText, count: apart.length, how: found.how };
}

/** A final line break makes no difference for whole lines. A last line without text ends both sides, or is a line of one. */
function linesOf(oldString: string, newString: string): LineEdit {
  const edit = withoutNumbers({ oldLines: oldString.split(/\r?\n/), newLines: newString.split(/\r?\n/) });
  const [oldEnd = "", newEnd = ""] = [edit.oldLines.at(-1), edit.newLines.at(-1)];
  const areBoth = oldEnd.trim() === "" && newEnd.trim() === "";
  return {
    oldLines: areBoth || oldEnd === "" ? edit.oldLines.slice(0, -1) : edit.oldLines,
    newLines: areBoth || newEnd === "" ? edit.newLines.slice(0, -1) : edit.newLines,
  };
}

function withoutNumbers({ oldLines, newLines }: LineEdit): LineEdit {
  const filled = oldLines.filter((line) => line.trim() !== "");
  if (filled.length === 0 || !filled.every((line) => NUMBERED.test(line))) return { oldLines, newLines };
  const strip = (line: string): string => line.replace(NUMBERED, "");
  return { oldLines: oldLines.map(strip), newLines: newLines.map(strip) };
}

type Placed = Span & { readonly ok: true; readonly replacement: string };

/** Offsets of a window, and the text that replaces it. */
function placeOf(file: TextLines, window: Window, edit: LineEdit): Placed | Extract<FittedLines, { ok: false }> {
  const { first, count } = window;
  const start = file.start(first);
  // Lines that nothing replaces take their line break with them.
  const fitted = fitLines(file, { ...window, ...edit });
  if (!fitted.ok) return fitted;
  if (edit.newLines.length === 0) return { ok: true, start, end: file.start(first + count), replacement: "" };
  const replacement = joinLines(fitted.lines, file.breakNear(first));
  return { ok: true, start, end: file.end(first + count - 1), replacement };
}

/** True when the file has these whole lines: then the edit was made before. A part of a line proves nothing. */
function hasLines(text: string, wanted: string): boolean {
  const lines = wanted.replace(/\r?\n$/, "");
  if (!WORD.test(lines)) return false;
  const [place] = findAll(text, lines);
  if (place === undefined) return false;
  const { start, end } = place;
  return (start === 0 || text[start - 1] === "\n") && (end === text.length || /^\r?\n/.test(text.slice(end, end + 2)));
}

/**
 * The strings as the file would have them. A model does not know its line breaks and byte order mark, which are no part
 * of `text`. In a file that mixes line breaks, a line feed means either.
 */
function inFileForm(text: string, given: ReplaceRequest): ReplaceRequest {
  const kind = breakKind(text);
  const request = {
    ...given,
    oldString: inMarksOf(text, given.oldString),
    newString: inMarksOf(text, given.newString),
  };
  if (kind === undefined) return request;
  const convert = (part: string): string => part.replace(/\r?\n/g, kind === "\r\n" ? "\r\n" : "\n");
  return { ...request, oldString: convert(request.oldString), newString: convert(request.newString) };
}

/** Includes places that overlap: either may be meant. Excludes places that would cut a CRLF in two. */
function findAll(text: string, wanted: string): readonly Span[] {
  const places: Span[] = [];
  const find = finder(text, wanted);
  for (let place = find(0); place !== undefined; place = find(place.start + 1)) {
    if (!isWithinBreak(text, place.start) && !isWithinBreak(text, place.end)) places.push(place);
  }
  return places;
}

/** Finds the next place from an offset on. In a file that mixes line breaks, a line feed finds either. */
function finder(text: string, wanted: string): (from: number) => Span | undefined {
  if (!wanted.includes("\n") || breakKind(text) !== "mixed") {
    return (from) => {
      const start = text.indexOf(wanted, from);
      return start < 0 ? undefined : { start, end: start + wanted.length };
    };
  }
  const pattern = new RegExp(wanted.split("\n").map(escapePattern).join("\\r?\\n"), "g");
  return (from) => {
    pattern.lastIndex = from;
    const found = pattern.exec(text);
    return found === null ? undefined : { start: found.index, end: found.index + found[0].length };
  };
}

function isWithinBreak(text: string, at: number): boolean {
  return text[at] === "\n" && text[at - 1] === "\r";
}

type Span = { readonly start: number; readonly end: number };

/** In order, without places that overlap the one before. */
function withoutOverlaps<Place extends Span>(places: readonly Place[]): readonly Place[] {
  let from = 0;
  return places.filter(({ start, end }) => {
    const isApart = start >= from;
    if (isApart) from = end;
    return isApart;
  });
}

function splice(text: string, places: readonly (Span & { readonly replacement: string })[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, replacement } of places) {
    parts.push(text.slice(from, start), replacement);
    from = end;
  }
  return parts.join("") + text.slice(from);
}

function notFound(file: TextLines, oldString: string): Replacement {
  const near = nearestText(file, oldString);
  const hint = near === undefined ? "Read the file again." : `The nearest text is at line ${near.line}:\n${near.text}`;
  return refused(`old_string is not in the file. ${hint}`);
}

function ambiguous(text: string, places: readonly number[]): Replacement {
  const lines = places.slice(0, NAMED_PLACES).map((place) => text.slice(0, place).split("\n").length);
  const more = places.length > NAMED_PLACES ? " …" : "";
  return refused(
    `old_string is at ${places.length} places (lines ${lines.join(", ")}${more}). Give more of the text around the one you mean, or set replace_all.`,
  );
}

function refused(text: string): Replacement {
  return { kind: "refused", text };
}
