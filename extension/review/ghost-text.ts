/** Removed text in a few words, for the end of the line that replaced it. Pure. */
import * as vscode from "vscode";
import { minimalEdit } from "../documents/minimal-edit.ts";
import type { Hunk } from "./hunks.ts";

/** The hover and the gutter's peek show the whole text. */
const MAX_CHARS = 40;

/** Of a single changed line only its removed part; empty when nothing was removed. */
export function ghostText({ oldLines, newLines }: Hunk): string {
  const [oldLine = "", ...more] = oldLines;
  const [newLine, ...others] = newLines;
  if (newLine !== undefined && more.length === 0 && others.length === 0) return cut(removedPart(oldLine, newLine));
  const first = oldLines.map((line) => line.trim()).find((line) => line !== "");
  const count = oldLines.length === 1 ? vscode.l10n.t("1 line") : vscode.l10n.t("{0} lines", oldLines.length);
  if (first === undefined) return count;
  return oldLines.length === 1 ? cut(first) : `${cut(first)} (${count})`;
}

function removedPart(oldLine: string, newLine: string): string {
  const edit = minimalEdit(oldLine, newLine);
  return edit === undefined ? "" : oldLine.slice(edit.start, edit.end).trim();
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
