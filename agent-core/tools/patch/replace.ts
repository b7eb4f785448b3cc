/** Replacing text in a file: at its one place, or refused with advice. Pure. */
import { findByFallbacks, type LineEdit, type Window } from "./find-by-fallbacks.ts";
import { fitLines } from "./fit-lines.ts";
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
  const { oldString, newString } = inFileEndings(text, request);
  if (oldString === newString) return refused("old_string and new_string are the same; there is nothing to change.");
  const places = findAll(text, oldString);
  if (places.length === 0) return replaceInexact(text, { ...request, oldString, newString });
  if (places.length > 1 && !request.replaceAll) return ambiguous(text, places);
  const apart = withoutOverlaps(places.map((start) => ({ start, end: start + oldString.length })));
  const newText = splice(
    text,
    apart.map((place) => ({ ...place, replacement: newString })),
  );
  return { kind: "changed", newText, count: apart.length };
}

/** The text with its one exact place replaced; undefined unless there is exactly one. */
export function replaceExactly(text: string, request: ReplaceRequest): string | undefined {
  const { oldString, newString } = inFileEndings(text, request);
  const [start, ...others] = findAll(text, oldString);
  if (start === undefined || others.length > 0 || oldString === newString) return undefined;
  return splice(text, [{ start, end: start + oldString.length, replacement: newString }]);
}

/** No exact place: the first fallback that finds anything decides. */
function replaceInexact(text: string, { oldString, newString, replaceAll }: ReplaceRequest): Replacement {
  if (hasLines(text, newString)) {
    return { kind: "already", text: "The file already contains new_string and not old_string; nothing was changed." };
  }
  const file = new TextLines(text);
  const edit = withoutNumbers({ oldLines: splitLines(oldString), newLines: splitLines(newString) });
  const found = edit.oldLines.length === 0 ? undefined : findByFallbacks(file, edit);
  if (found === undefined) return notFound(file, oldString);
  const places = found.windows.map((window) => placeOf(file, window, found.edit));
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

/** A final line break makes no difference for whole lines. */
function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function withoutNumbers({ oldLines, newLines }: LineEdit): LineEdit {
  const filled = oldLines.filter((line) => line.trim() !== "");
  if (filled.length === 0 || !filled.every((line) => NUMBERED.test(line))) return { oldLines, newLines };
  const strip = (line: string): string => line.replace(NUMBERED, "");
  return { oldLines: oldLines.map(strip), newLines: newLines.map(strip) };
}

/** Offsets of a window, and the text that replaces it. */
function placeOf(file: TextLines, window: Window, edit: LineEdit): Span & { readonly replacement: string } {
  const { first, count } = window;
  const start = file.start(first);
  // Lines that nothing replaces take their line break with them.
  if (edit.newLines.length === 0) return { start, end: file.start(first + count), replacement: "" };
  const lines = fitLines(file, { ...window, ...edit });
  const replacement = lines.map(({ text, end }, index) => (index === lines.length - 1 ? text : text + end)).join("");
  return { start, end: file.end(first + count - 1), replacement };
}

/** True when the file has these whole lines: then the edit was made before. A part of a line proves nothing. */
function hasLines(text: string, wanted: string): boolean {
  const lines = wanted.replace(/\r?\n$/, "");
  if (!WORD.test(lines)) return false;
  const at = text.indexOf(lines);
  if (at < 0) return false;
  const end = at + lines.length;
  return (at === 0 || text[at - 1] === "\n") && (end === text.length || /^\r?\n/.test(text.slice(end, end + 2)));
}

/** A model writes plain newlines; where the file has CRLF throughout, so do the strings. */
function inFileEndings(text: string, request: ReplaceRequest): ReplaceRequest {
  if (!text.includes("\r\n")) return request;
  const isMixed = /(^|[^\r])\n/.test(text);
  if (isMixed && findAll(text, request.oldString).length > 0) return request;
  return { ...request, oldString: crlf(request.oldString), newString: crlf(request.newString) };
}

function crlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Includes places that overlap: either may be meant. Excludes places that would cut a CRLF in two. */
function findAll(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (!isWithinBreak(text, at) && !isWithinBreak(text, at + wanted.length)) places.push(at);
  }
  return places;
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
