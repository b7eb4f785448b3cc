/** Commands about the edits up for review. */
import * as vscode from "vscode";
import { hunkOfChange, reviewedDocument } from "../review/hunk-keys.ts";
import type { Services } from "../services.ts";

type Args = readonly unknown[];

/** Keeps the hunk that VS Code's own change view shows. */
export function keepChange({ review }: Services, ...args: Args): void {
  const place = hunkOfChange(review, args);
  if (place) review.keep(place.uri, place.hunk);
}

/** Undoes the hunk that VS Code's own change view shows. */
export async function undoChange({ review }: Services, ...args: Args): Promise<void> {
  const place = hunkOfChange(review, args);
  if (place) await review.undo(place.uri, place.hunk);
}

export function keepFile({ review }: Services, ...args: Args): void {
  const uri = reviewedDocument(review, args);
  if (uri) review.keepFile(uri);
}

export async function undoFile({ review }: Services, ...args: Args): Promise<void> {
  const uri = reviewedDocument(review, args);
  if (uri) await review.undoFile(uri);
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
    const question = vscode.l10n.t("Undo all edits of Hermes in {0} files?", files);
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, UNDO_ALL);
    if (answer !== UNDO_ALL) return;
  }
  await review.undoAll();
}
