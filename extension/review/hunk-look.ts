/** Look of a hunk in the editor: words to mark in its lines, and the old text for the row of lenses above them. Pure. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { differsInLineEndsOnly } from "../documents/line-ends.ts";
import { type Span, type WordDiff, wordDiff } from "./word-diff.ts";

/** Removed words in front of a character of the hunk's line. */
export type Struck = { readonly line: number; readonly at: number; readonly text: string };

/** Old text above one of the hunk's lines. */
export type Caption = { readonly line: number; readonly text: string };

/** Lines count from the hunk's first one. */
export type HunkLook = {
  readonly inserted: readonly Span[];
  readonly struck: readonly Struck[];
  readonly captions: readonly Caption[];
};

/** Old lines that are shown whole above the new ones. */
const MAX_LINES = 3;

/** Longest text of an old line. An editor between two side bars shows about as much beside the buttons. Characters. */
const MAX_CAPTION = 72;

/** Longest text of removed lines. Characters. */
const MAX_REMOVED = 140;

/** In place of removed words that are too long to stand inside the line. */
export const TOO_LONG = "…";

/** Longest removed words inside a line, and all of a line together. More of them push the line out of view. Characters. */
const MAX_STRUCK = 24;
const MAX_STRUCK_OF_LINE = 40;

/** Looks by the texts of their hunks: typing in one hunk makes all of them anew. Large hunks are few. */
const looks = new Map<string, HunkLook>();
const MAX_LOOKS = 4_000;
const MAX_KEY = 4_000;

/** `isWrapped`: the editor wraps lines, and struck words would push their ends out of view. */
export function hunkLook(hunk: Hunk, isWrapped = false): HunkLook {
  const key = [String(isWrapped), hunk.oldLines.join(""), hunk.newLines.join("")].join("\0");
  const known = looks.get(key);
  if (known !== undefined) return known;
  const look = lookOf(hunk, isWrapped);
  if (looks.size >= MAX_LOOKS) looks.clear();
  if (key.length <= MAX_KEY) looks.set(key, look);
  return look;
}

function lookOf(hunk: Hunk, isWrapped: boolean): HunkLook {
  const words = wordDiff(hunk.oldLines, hunk.newLines);
  const isBlank = isBlankChange(hunk);
  const isShort = (line: number): boolean => !isWrapped && canStandInside(hunk, words, line);
  const struck = words.removed
    .filter(({ line }) => !RIGHT_TO_LEFT.test(hunk.newLines[line] ?? ""))
    .map(({ old, line, at }): Struck => {
      const text = (hunk.oldLines[old.line] ?? "").slice(old.start, old.end);
      return { line, at, text: isShort(line) ? printable(text, isBlank) : TOO_LONG };
    });
  return { inserted: words.inserted, struck, captions: captionsOf(hunk, words, isShort) };
}

/** Struck words would change the order of the words around them. */
const RIGHT_TO_LEFT = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}]/u;

/** True when all removed words of a line can stand inside it, in view. */
function canStandInside({ newLines }: Hunk, { removed }: WordDiff, line: number): boolean {
  const ofLine = removed.filter((removal) => removal.line === line);
  const sizes = ofLine.map(({ old }) => old.end - old.start);
  return (
    ofLine.every(({ at }) => at <= MAX_CAPTION) &&
    sizes.every((size) => size <= MAX_STRUCK) &&
    sizes.reduce((sum, size) => sum + size, 0) <= MAX_STRUCK_OF_LINE &&
    !RIGHT_TO_LEFT.test(newLines[line] ?? "")
  );
}

function captionsOf(hunk: Hunk, words: WordDiff, isShort: (line: number) => boolean): readonly Caption[] {
  const { oldLines } = hunk;
  if (oldLines.length === 0) return [];
  const note = lineEndNote(hunk);
  if (note !== undefined) return [{ line: 0, text: note }];
  const changed = changedLines(words);
  const isPaired = oldLines.every((_line, old) => words.oldLineOf.includes(old));
  const long = changed.filter((line) => !isShort(line));
  if (!isPaired || long.length > MAX_LINES) return [{ line: 0, text: removedLines(oldLines) }];
  // One old line has room beside the buttons anyway.
  const captioned = oldLines.length === 1 ? changed : long;
  return captioned.map((line) => ({ line, text: changedLine(hunk, words, line) }));
}

/** New lines that replace an old one, and differ from it. */
function changedLines({ inserted, removed, oldLineOf }: WordDiff): readonly number[] {
  const differs = (line: number): boolean => [...inserted, ...removed].some((part) => part.line === line);
  return [...oldLineOf.keys()].filter((line) => oldLineOf[line] !== undefined && differs(line));
}

function isBlankChange({ oldLines, newLines }: Hunk): boolean {
  const packed = (lines: readonly string[]): string => lines.join("").replaceAll(/\s/g, "");
  return packed(oldLines) === packed(newLines);
}

/** Note for a change that no character shows. */
function lineEndNote({ oldLines, newLines }: Hunk): string | undefined {
  if (newLines.length === 0) return undefined;
  const [old, fresh] = [oldLines.join(""), newLines.join("")];
  const [oldEnd, newEnd] = [old.endsWith("\n"), fresh.endsWith("\n")];
  if (oldEnd === newEnd && differsInLineEndsOnly(old, fresh)) {
    return vscode.l10n.t("Line endings changed: {0} → {1}", lineEnds(old), lineEnds(fresh));
  }
  if (oldEnd === newEnd || old.replace(/\r?\n$/, "") !== fresh.replace(/\r?\n$/, "")) return undefined;
  return newEnd
    ? vscode.l10n.t("The file now ends with a line break")
    : vscode.l10n.t("The file no longer ends with a line break");
}

function lineEnds(text: string): string {
  const kinds = new Set(text.match(/\r?\n/g));
  return [...kinds].map((end) => (end === "\n" ? "LF" : "CRLF")).join(" + ");
}

/** The old line, and the changed part of the new one where that is too far right to be in view. */
function changedLine(hunk: Hunk, words: WordDiff, line: number): string {
  const gone = words.removed.filter((removal) => removal.line === line).map(({ old }) => old);
  const came = words.inserted.filter((span) => span.line === line);
  const old = excerpt(hunk.oldLines[words.oldLineOf[line] ?? 0] ?? "", gone.length > 0 ? gone : came);
  const fresh = excerpt(hunk.newLines[line] ?? "", came.length > 0 ? came : gone);
  const isFar = Math.min(...[...came, ...gone].map(({ start }) => start)) > MAX_CAPTION;
  if (isBlankChange(hunk)) {
    const text = (hunk.oldLines[words.oldLineOf[line] ?? 0] ?? "").replace(/\r?\n$/, "").slice(0, MAX_CAPTION);
    return `− ${printable(text, true)} (${vscode.l10n.t("only whitespace changed")})`;
  }
  return `− ${printable(old, false)}${isFar ? `  →  ${printable(fresh, false)}` : ""}`;
}

function removedLines(lines: readonly string[]): string {
  const texts = lines.map((line) => line.trim()).filter((line) => line !== "");
  const count = lines.length === 1 ? vscode.l10n.t("1 line") : vscode.l10n.t("{0} lines", lines.length);
  if (texts.length === 0) return `− (${count})`;
  const whole = printable(texts.join(" ⏎ "), false);
  const isWhole = lines.length <= MAX_LINES && whole.length <= MAX_REMOVED;
  return isWhole ? `− ${whole}` : `− ${whole.slice(0, MAX_REMOVED / 2)}… (${count})`;
}

/** Least size of moved text; shorter lines are often equal by chance. Characters. */
const MIN_MOVED = 12;

/** Removed hunks and the new ones that have their lines, each with the other. */
export function movesOf(hunks: readonly Hunk[]): ReadonlyMap<Hunk, Hunk> {
  const textOf = (lines: readonly string[]): string =>
    lines
      .map((line) => line.trim())
      .join("\n")
      .trim();
  const gone = new Map(
    hunks.filter(({ newLines }) => newLines.length === 0).map((hunk) => [textOf(hunk.oldLines), hunk]),
  );
  const moves = new Map<Hunk, Hunk>();
  for (const to of hunks.filter(({ oldLines }) => oldLines.length === 0)) {
    const text = textOf(to.newLines);
    const from = gone.get(text);
    if (from === undefined || text.length < MIN_MOVED) continue;
    gone.delete(text);
    moves.set(from, to).set(to, from);
  }
  return moves;
}

/** Part of a line around its changes, without the indentation. */
function excerpt(line: string, changes: readonly Pick<Span, "start" | "end">[]): string {
  const text = line.replace(/\r?\n$/, "");
  const indent = text.length - text.trimStart().length;
  const [first, last] = [changes[0]?.start ?? indent, changes.at(-1)?.end ?? indent];
  const begin = Math.min(indent, first);
  if (text.length - begin <= MAX_CAPTION) return text.slice(begin);
  const isNear = last - begin <= MAX_CAPTION;
  const from = isNear ? begin : Math.max(begin, first - MAX_STRUCK);
  const to = Math.min(text.length, from + (isNear ? MAX_CAPTION : MAX_CAPTION / 2));
  return `${from > begin ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

/** Text for a lens or inside a line: blanks keep their width there, and `$(name)` is no icon. */
function printable(text: string, withBlanks: boolean): string {
  const blanks = withBlanks ? text.replaceAll("\t", "→").replaceAll(" ", "·") : text.replaceAll("\t", "  ");
  return blanks.replaceAll(" ", "\u00a0");
}
