/** Going from hunk to hunk, also from file to file. */
import * as vscode from "vscode";
import type { Review } from "./review.ts";

type Place = { readonly path: string; readonly line: number };

/** `direction` is 1 or -1; `args` may name the hunk to start from (path, index). */
export async function revealHunk(review: Review, direction: 1 | -1, args: readonly unknown[]): Promise<void> {
  const places = review.files.flatMap(({ path }) =>
    review.hunks(path).map(({ newStart }): Place => ({ path, line: newStart })),
  );
  if (places.length === 0) return;
  const from = startOf(places, review, direction, args);
  const next = places[(from + direction + places.length) % places.length];
  if (next === undefined) return;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(next.path));
  const at = new vscode.Position(Math.min(next.line, document.lineCount - 1), 0);
  await vscode.window.showTextDocument(document, { preview: true, selection: new vscode.Range(at, at) });
}

/** Index of the hunk one is at; before the first one of the file when the caret is above it. */
function startOf(
  places: readonly Place[],
  review: Review,
  direction: 1 | -1,
  [path, index]: readonly unknown[],
): number {
  if (typeof path === "string" && typeof index === "number") {
    return places.findIndex((place) => place.path === path && place.line === review.hunks(path)[index]?.newStart);
  }
  const editor = vscode.window.activeTextEditor;
  const here = editor?.document.uri.fsPath;
  const line = editor?.selection.active.line ?? 0;
  if (direction === 1) return places.findLastIndex((place) => place.path === here && place.line <= line);
  const next = places.findIndex((place) => place.path === here && place.line >= line);
  return next < 0 ? places.length : next;
}
