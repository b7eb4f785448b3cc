/** Review commands: keep and undo, by keys and lenses of a hunk, its target in the arguments or at the caret. */
import * as vscode from "vscode";
import * as z from "zod";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { findDocument } from "../documents/read-text.ts";
import type { Services } from "../services.ts";
import type { CaretPlace, HunkCaret } from "./hunk-caret.ts";
import { sameHunk } from "./hunks.ts";
import { fromCell, openNotebook, showInCell } from "./notebook-hunks.ts";
import { BASELINE_SCHEME, GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";
import type { ReviewOpener } from "./review-opener.ts";

/** Moves to the next (1) or previous (-1) hunk, also in another file; `args` may name the hunk to start from, as a lens does. */
export function revealHunk(
  review: Review,
  opener: ReviewOpener,
  direction: 1 | -1,
  args: readonly unknown[],
): Promise<void> {
  return opener.inOrder(async function reveal(): Promise<void> {
    const places = review.documents.flatMap((uri) =>
      review.hunks(uri).map(({ newStart }): CaretPlace => ({ uri, line: newStart })),
    );
    if (places.length === 0) return;
    const from = startOf(places, { review, caret: opener.caret }, direction, args);
    const next = places[(from + direction + places.length) % places.length];
    if (next === undefined) return;
    try {
      await opener.caret.go(next, () => show(review, next, opener));
    } catch (error) {
      // The file may have gone without an event.
      await review.refresh(next.uri);
      if (review.find(next.uri) !== undefined) throw error;
      await reveal();
    }
  });
}

/** Opens a file directly at the hunk: otherwise it would show its last caret position for a moment. */
async function show(review: Review, { uri, line }: CaretPlace, opener: ReviewOpener): Promise<void> {
  if (openNotebook(uri) !== undefined) return showInCell(review, { uri, line });
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
  // The key may come from the panel. The keys that keep and undo a hunk work in the editor.
  await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
}

/** Index of the hunk at the caret; the index before the file's first hunk when the caret is above it. */
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
  const place = caret.place ?? caret.last;
  const { uri, line = 0 } = (place && fromCell(review, place)) ?? {};
  if (uri === undefined || !places.some((place) => isAt(place, uri))) return direction === 1 ? -1 : 0;
  if (direction === 1) {
    const last = places.findLastIndex((place) => isAt(place, uri) && place.line <= line);
    return last >= 0 ? last : places.findIndex((place) => isAt(place, uri)) - 1;
  }
  const next = places.findIndex((place) => isAt(place, uri) && place.line >= line);
  return next >= 0 ? next : places.findLastIndex((place) => isAt(place, uri)) + 1;
}

/** Keeps or undoes one hunk: the one in `args`, otherwise the one to which the last key moved. */
export function decideHunk(
  review: Review,
  opener: ReviewOpener,
  decision: "keep" | "undo",
  args: readonly unknown[],
): Promise<void> {
  return opener.inOrder(async () => {
    const place = hunkAt(review, opener.caret, args);
    if (place === undefined) return;
    if (decision === "keep") review.keep(place.uri, place.hunk);
    else await review.undo(place.uri, place.hunk);
  });
}

/** Shows the hunk in `args` or at the caret in VS Code's diff editor; from there, in the file again. */
export function toggleDiff(
  { review, opener }: Pick<Services, "review" | "opener">,
  ...args: readonly unknown[]
): Promise<void> {
  return opener.inOrder(async () => {
    const place = placeInFile(review) ?? placeInDiff(review, opener.caret, args);
    if (place === undefined) return;
    const { uri, line, isInDiff } = place;
    const selection = new vscode.Range(line, 0, line, 0);
    await opener.caret.go(place, async () => {
      if (isInDiff) await opener.openDiff(uri, false, line);
      else await vscode.window.showTextDocument(uri, { preview: true, selection });
    });
  });
}

type ToggledPlace = CaretPlace & { readonly isInDiff: boolean };

/** Caret of the diff editor in front, as a place in its file. A caret in the baseline is at the hunk of that line. */
function placeInFile(review: Review): ToggledPlace | undefined {
  const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
  if (!(input instanceof vscode.TabInputTextDiff) || input.original.scheme !== BASELINE_SCHEME) return undefined;
  const { modified: uri } = input;
  const editor = vscode.window.activeTextEditor;
  const line = editor?.selection.active.line ?? 0;
  if (uri.scheme === GONE_SCHEME) return undefined;
  if (editor?.document.uri.scheme !== BASELINE_SCHEME) return { uri, line, isInDiff: false };
  const hunk = review.hunks(uri).find(({ oldStart, oldLines }) => line < oldStart + Math.max(1, oldLines.length));
  return { uri, line: hunk?.newStart ?? line, isInDiff: false };
}

function placeInDiff(review: Review, caret: HunkCaret, args: readonly unknown[]): ToggledPlace | undefined {
  const place = hunkAt(review, caret, args);
  if (place === undefined) return undefined;
  const { uri, hunk } = place;
  const line = caret.place?.line ?? 0;
  const isInside = args.length === 0 && line >= hunk.newStart && line < hunk.newStart + hunk.newLines.length;
  return { uri, line: isInside ? line : hunk.newStart, isInDiff: true };
}

/** Arguments of a link on hovering: the hunk's first line. */
const hunkLine = z.tuple([z.string(), z.number()]);

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
  const linked = hunkLine.safeParse(args.slice(0, 2)).data;
  if (linked !== undefined) {
    const uri = vscode.Uri.parse(linked[0], true);
    const hunk = review.hunks(uri).find(({ newStart }) => newStart === linked[1]);
    return hunk && { uri, hunk };
  }
  if (place === undefined) return undefined;
  const { uri, line } = fromCell(review, place);
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

type Args = readonly unknown[];

/** Keeps or undoes the hunk that VS Code's own change view shows. */
export async function decideChange({ review }: Services, decision: "keep" | "undo", args: Args): Promise<void> {
  const place = hunkOfChange(review, args);
  if (place) await review[decision](place.uri, place.hunk);
}

export async function decideFile({ review }: Services, decision: "keep" | "undo", args: Args): Promise<void> {
  const uri = reviewedDocument(review, args);
  if (uri) await review[decision](uri);
}

export async function openReview({ review, opener }: Services, ...args: Args): Promise<void> {
  const uri = reviewedDocument(review, args) ?? review.documents[0];
  if (uri) await opener.openDiff(uri, false);
}

const UNDO_ALL = vscode.l10n.t("Undo All");

/** Asks once for several files. A single file, and each undo, can be redone from the panel. */
export async function undoAll({ review }: Services): Promise<void> {
  const files = review.files.filter(({ isWaiting }) => !isWaiting).length;
  if (files > 1) {
    const detail = vscode.l10n.t("Files that Hermes created are deleted. You can redo this from the chat panel.");
    const question = vscode.l10n.t("Undo all of Hermes' edits in {0} files?", files);
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, UNDO_ALL);
    if (answer !== UNDO_ALL) return;
  }
  await review.undoAll();
}
