/** Which hunk or file a command means: named by its arguments, else where the caret is. */
import * as vscode from "vscode";
import * as z from "zod";
import type { HunkCaret } from "./hunk-caret.ts";
import { type Hunk, sameHunk } from "./hunks.ts";
import type { Review } from "./review.ts";

/** Arguments of a lens. It may be drawn for a moment longer than its text stands, so it names the lines themselves. */
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

/** A change as the quick diff's peek names it: lines from 1, the last one 0 when there are none. */
type LineChange = {
  readonly originalStartLineNumber: number;
  readonly originalEndLineNumber: number;
  readonly modifiedStartLineNumber: number;
  readonly modifiedEndLineNumber: number;
};

/** The hunk of a button in the quick diff's peek, whose arguments are the file, its changes, and which one it is. */
export function hunkOfChange(review: Review, [uri, changes, index]: readonly unknown[]): HunkPlace | undefined {
  if (!(uri instanceof vscode.Uri) || !Array.isArray(changes) || typeof index !== "number") return undefined;
  const change: LineChange | undefined = changes[index];
  if (change === undefined) return undefined;
  // A change without lines stands after the line that it names.
  const start = change.modifiedStartLineNumber - (change.modifiedEndLineNumber === 0 ? 0 : 1);
  const end = Math.max(start, change.modifiedEndLineNumber);
  const file = vscode.Uri.file(uri.fsPath);
  const hunk = review
    .hunks(file)
    .find(({ newStart, newLines }) => newStart <= end && start <= newStart + newLines.length);
  return hunk && { uri: file, hunk };
}

/** The document named by the arguments, else the active one, or what else shows its file, when it is under review. */
export function reviewedDocument(review: Review, [document]: readonly unknown[]): vscode.Uri | undefined {
  const wanted = namedDocument(document) ?? vscode.window.activeTextEditor?.document.uri;
  if (wanted === undefined) return undefined;
  return review.find(wanted) === undefined ? review.documentsOf(wanted.fsPath)[0] : wanted;
}

/** Menus give a Uri, a resource of the source control view, or our own lenses' text. */
function namedDocument(argument: unknown): vscode.Uri | undefined {
  if (typeof argument === "string") return vscode.Uri.parse(argument, true);
  if (argument instanceof vscode.Uri) return argument;
  if (typeof argument === "object" && argument !== null && "resourceUri" in argument) {
    return argument.resourceUri instanceof vscode.Uri ? argument.resourceUri : undefined;
  }
  return undefined;
}
