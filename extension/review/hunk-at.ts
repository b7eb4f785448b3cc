/** Target of a review command: the hunk or file in its arguments, otherwise the one at the caret. */
import * as vscode from "vscode";
import * as z from "zod";
import type { HunkCaret } from "./hunk-caret.ts";
import { type Hunk, sameHunk } from "./hunks.ts";
import type { Review } from "./review.ts";

/** Arguments of a lens. It may outlive a change of its text for a moment, so it names the lines themselves. */
const namedHunk = z.tuple([
  z.string(),
  z.object({ newStart: z.number(), oldLines: z.array(z.string()), newLines: z.array(z.string()) }),
]);

export type HunkPlace = { readonly uri: vscode.Uri; readonly hunk: Hunk };

/** Undefined when there is nothing to review there. */
export function hunkAt(
  review: Review,
  { place }: Pick<HunkCaret, "place">,
  args: readonly unknown[],
): HunkPlace | undefined {
  const named = namedHunk.safeParse(args.slice(0, 2)).data;
  if (named !== undefined) {
    const uri = vscode.Uri.parse(named[0], true);
    const hunk = sameHunk(review.hunks(uri), named[1]);
    return hunk && { uri, hunk };
  }
  if (place === undefined) return undefined;
  const { uri, line } = place;
  const hunk = review.hunks(uri).find(({ newStart, newLines }) => line < newStart + Math.max(1, newLines.length));
  return hunk && { uri, hunk };
}

/** A change in the arguments of the quick diff's peek: lines from 1; the last one is 0 when there are none. */
type LineChange = {
  readonly originalStartLineNumber: number;
  readonly originalEndLineNumber: number;
  readonly modifiedStartLineNumber: number;
  readonly modifiedEndLineNumber: number;
};

/** Hunk of a button in the quick diff's peek, whose arguments are the file, its changes, and an index. */
export function hunkOfChange(review: Review, [uri, changes, index]: readonly unknown[]): HunkPlace | undefined {
  if (!(uri instanceof vscode.Uri) || !Array.isArray(changes) || typeof index !== "number") return undefined;
  const change: LineChange | undefined = changes[index];
  if (change === undefined) return undefined;
  // A change without lines is after the line that it names.
  const start = change.modifiedStartLineNumber - (change.modifiedEndLineNumber === 0 ? 0 : 1);
  const end = Math.max(start, change.modifiedEndLineNumber);
  const file = vscode.Uri.file(uri.fsPath);
  const hunk = review
    .hunks(file)
    .find(({ newStart, newLines }) => newStart <= end && start <= newStart + newLines.length);
  return hunk && { uri: file, hunk };
}

/** Reviewed document in the arguments, otherwise the active one, or another document of its file. */
export function reviewedDocument(review: Review, [document]: readonly unknown[]): vscode.Uri | undefined {
  const wanted = namedDocument(document) ?? vscode.window.activeTextEditor?.document.uri;
  if (wanted === undefined) return undefined;
  return review.find(wanted) === undefined ? review.documentsOf(wanted.fsPath)[0] : wanted;
}

/** Menus pass a Uri or a resource of the source control view, our lenses a string. */
function namedDocument(argument: unknown): vscode.Uri | undefined {
  if (typeof argument === "string") return vscode.Uri.parse(argument, true);
  if (argument instanceof vscode.Uri) return argument;
  if (typeof argument === "object" && argument !== null && "resourceUri" in argument) {
    return argument.resourceUri instanceof vscode.Uri ? argument.resourceUri : undefined;
  }
  return undefined;
}
