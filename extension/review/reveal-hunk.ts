/** Going from hunk to hunk, also from file to file. */
import * as vscode from "vscode";
import { findDocument } from "../documents/find-document.ts";
import { hunkAt } from "./hunk-at.ts";
import type { CaretPlace, HunkCaret } from "./hunk-caret.ts";
import { GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";
import type { ReviewOpener } from "./review-opener.ts";

/** `direction` is 1 or -1; `args` may name the hunk to start from (as a lens does). */
export function revealHunk(
  review: Review,
  opener: ReviewOpener,
  direction: 1 | -1,
  args: readonly unknown[],
): Promise<void> {
  return opener.inTurn(() => reveal(review, opener, direction, args));
}

async function reveal(
  review: Review,
  opener: ReviewOpener,
  direction: 1 | -1,
  args: readonly unknown[],
): Promise<void> {
  const places = review.documents.flatMap((uri) =>
    review.hunks(uri).map(({ newStart }): CaretPlace => ({ uri, line: newStart })),
  );
  if (places.length === 0) return;
  const from = startOf(places, { review, caret: opener.caret }, direction, args);
  const next = places[(from + direction + places.length) % places.length];
  if (next === undefined) return;
  try {
    await opener.caret.go(next, () => show(next, opener));
  } catch (error) {
    // The file may have gone where nobody told of it.
    await review.lookAgain(next.uri);
    if (review.find(next.uri) !== undefined) throw error;
    await reveal(review, opener, direction, args);
  }
}

/** A file is opened at the hunk at once: else it would show for a moment where the caret was last. */
async function show({ uri, line }: CaretPlace, opener: ReviewOpener): Promise<void> {
  const editor = opener.caret.editorOf(uri);
  if (editor === undefined) {
    if (uri.scheme === PROPOSAL_SCHEME || uri.scheme === GONE_SCHEME) return opener.openDiff(uri, false, line);
    // An unchanged document may outlive its file.
    if (findDocument(uri.fsPath)?.isDirty !== true) await vscode.workspace.fs.stat(uri);
    await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(line, 0, line, 0) });
    return;
  }
  const at = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Index of the hunk one is at; before the first one of the file when the caret is above it. */
function startOf(
  places: readonly CaretPlace[],
  { review, caret }: { readonly review: Review; readonly caret: HunkCaret },
  direction: 1 | -1,
  args: readonly unknown[],
): number {
  const isAt = (place: CaretPlace, uri: vscode.Uri): boolean => place.uri.toString() === uri.toString();
  const named = args.length > 0 ? hunkAt(review, caret, args) : undefined;
  if (named !== undefined) {
    return places.findIndex((place) => isAt(place, named.uri) && place.line === named.hunk.newStart);
  }
  const { uri, line = 0 } = caret.place ?? {};
  if (uri === undefined || !places.some((place) => isAt(place, uri))) return direction === 1 ? -1 : 0;
  if (direction === 1) {
    const last = places.findLastIndex((place) => isAt(place, uri) && place.line <= line);
    return last >= 0 ? last : places.findIndex((place) => isAt(place, uri)) - 1;
  }
  const next = places.findIndex((place) => isAt(place, uri) && place.line >= line);
  return next >= 0 ? next : places.findLastIndex((place) => isAt(place, uri)) + 1;
}
