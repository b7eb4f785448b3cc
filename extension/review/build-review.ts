/** Builds the review and everything that shows it. */
import * as vscode from "vscode";
import type { EditReview } from "../client/client-services.ts";
import { CheckpointDocuments } from "./checkpoint-documents.ts";
import { editReview } from "./edit-review.ts";
import { FileBadges } from "./file-badges.ts";
import { HunkLenses } from "./hunk-lenses.ts";
import { HunkMarks } from "./hunk-marks.ts";
import { LandedEdits } from "./landed-edits.ts";
import { OriginalDocuments } from "./original-documents.ts";
import { Proposals } from "./proposals.ts";
import { Review } from "./review.ts";
import { ReviewOpener } from "./review-opener.ts";
import { ReviewSourceControl } from "./review-source-control.ts";
import { ReviewStore } from "./review-store.ts";
import { ReviewTree } from "./review-tree.ts";

export type BuiltReview = {
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly editReview: EditReview;
  /** Shows what files held at a checkpoint. */
  readonly checkpoints: CheckpointDocuments;
  /** Told once after any number of changes in a row. */
  readonly onDidSettle: vscode.Event<void>;
};

/** Hands over to the context whatever must be disposed of, and takes up what an earlier window left. */
export function buildReview(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): BuiltReview {
  const store = new ReviewStore(context.storageUri, (problem) => log.warn(problem));
  const landed = new LandedEdits(store, (problem) => log.warn(problem));
  const proposals = new Proposals();
  const review = new Review(landed, proposals);
  const opener = new ReviewOpener(review, (problem) => log.error(problem));
  const settled = settling(review);
  const checkpoints = new CheckpointDocuments();
  const show = (path: string, where: "file" | "proposal"): void => {
    opener.showEdit(path, where).catch((error: unknown) => log.error(String(error)));
  };
  context.subscriptions.push(
    landed,
    proposals,
    review,
    opener,
    settled,
    checkpoints,
    new OriginalDocuments(review),
    new HunkLenses(review),
    new HunkMarks(review),
    new FileBadges(review),
    new ReviewSourceControl(review),
    new ReviewTree(review, settled.event),
    settled.event(() => setContext(review, log)),
  );
  landed.restore().catch((error: unknown) => log.error(String(error)));
  return { review, opener, editReview: editReview(landed, proposals, show), checkpoints, onDidSettle: settled.event };
}

/** Forty files that are kept at once are one change to a list. */
function settling(review: Review): vscode.EventEmitter<void> {
  const settled = new vscode.EventEmitter<void>();
  let isPlanned = false;
  review.onDidChange(() => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      settled.fire();
    });
  });
  return settled;
}

/** What `when` clauses ask: is there anything to review, and is this file one of it. */
function setContext({ documents }: Review, log: vscode.LogOutputChannel): void {
  // In a remote window the workbench knows files by other addresses than we do, but by the same paths.
  const paths = documents.flatMap(({ path, fsPath }) => [path, fsPath]);
  for (const [key, value] of [
    ["hermes.hasEdits", documents.length > 0],
    ["hermes.reviewedPaths", paths],
  ] as const) {
    vscode.commands
      .executeCommand("setContext", key, value)
      .then(undefined, (error: unknown) => log.error(String(error)));
  }
}
