/** Which hunk or file a command means: named by its arguments, else where the caret is. */
import * as vscode from "vscode";
import type { Review } from "./review.ts";

export type HunkPlace = { readonly path: string; readonly index: number };

/** Undefined when there is nothing to review there. */
export function hunkAt(review: Review, [path, index]: readonly unknown[]): HunkPlace | undefined {
  if (typeof path === "string" && typeof index === "number") return { path, index };
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const here = editor.document.uri.fsPath;
  const { line } = editor.selection.active;
  const found = review
    .hunks(here)
    .findIndex(({ newStart, newLines }) => line <= newStart + Math.max(1, newLines.length) - 1);
  return found < 0 ? undefined : { path: here, index: found };
}

/** The file named by the arguments, else the active one, when it is under review. */
export function reviewedPath(review: Review, [path]: readonly unknown[]): string | undefined {
  const wanted = typeof path === "string" ? path : vscode.window.activeTextEditor?.document.uri.fsPath;
  return review.files.find((file) => file.path === wanted)?.path;
}
