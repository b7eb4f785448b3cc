/** Builds the review and its views. */
import * as vscode from "vscode";
import type { EditReview } from "../client/client-services.ts";
import { AppliedEdits } from "./applied-edits.ts";
import { DiskEdits } from "./disk-edits.ts";
import { registerHunkHover } from "./hunk-hover.ts";
import { registerHunkLenses } from "./hunk-lenses.ts";
import { markHunks } from "./hunk-marks.ts";
import { Proposals } from "./proposals.ts";
import { CheckpointDocuments, provideOriginals } from "./read-only-documents.ts";
import { Review } from "./review.ts";
import { badgeFiles, ReviewSourceControl, showReviewTree } from "./review-lists.ts";
import { type PanelFocus, ReviewOpener } from "./review-opener.ts";
import { ReviewStore } from "./review-store.ts";

export type BuiltReview = {
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly editReview: EditReview;
  readonly diskEdits: DiskEdits;
  /** Shows the texts of files at a checkpoint. */
  readonly checkpoints: CheckpointDocuments;
  /** Fires once after any number of changes in a row. */
  readonly onDidSettle: vscode.Event<void>;
};

/** Registers everything with the context, and restores the reviews of an earlier window. */
export function buildReview(
  context: vscode.ExtensionContext,
  panels: PanelFocus,
  log: vscode.LogOutputChannel,
): BuiltReview {
  const store = new ReviewStore(context.storageUri, (problem) => log.warn(problem));
  const applied = new AppliedEdits(store, (problem) => log.warn(problem));
  const proposals = new Proposals();
  const review = new Review(applied, proposals);
  const opener = new ReviewOpener(review, panels, (problem) => log.error(problem));
  const settled = settling(review);
  const checkpoints = new CheckpointDocuments();
  const show = (path: string, where: "file" | "proposal"): void => {
    opener.showEdit(path, where).catch((error: unknown) => log.error(String(error)));
  };
  const diskEdits = new DiskEdits({
    note: async (edit) => {
      await applied.noteOnDisk(edit);
      if (edit.after !== null) show(edit.path, "file");
    },
    warn: (message) => log.warn(message),
  });
  context.subscriptions.push(
    applied,
    diskEdits,
    proposals,
    review,
    opener,
    settled,
    checkpoints,
    provideOriginals(review),
    registerHunkLenses(review),
    markHunks(review),
    registerHunkHover(review),
    badgeFiles(review),
    new ReviewSourceControl(review),
    showReviewTree(review, settled.event),
    settled.event(() => setContext(review, log)),
  );
  applied.restore().catch((error: unknown) => log.error(String(error)));
  return {
    review,
    opener,
    editReview: editReview(applied, proposals, show),
    diskEdits,
    checkpoints,
    onDidSettle: settled.event,
  };
}

/** Merges changes in a row: forty files kept at once redraw a list once. */
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

/** Sets the context keys of `when` clauses: edits to review, and the files that have them. */
function setContext({ documents }: Review, log: vscode.LogOutputChannel): void {
  // In a remote window the workbench has other URIs for files, but the same paths.
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

/** The stricter value counts, so that the settings of a workspace cannot lower the user's. */
function isReviewedBefore(): boolean {
  const setting = vscode.workspace.getConfiguration("hermes").inspect<string>("review.mode");
  return [setting?.globalValue, setting?.workspaceValue, setting?.workspaceFolderValue].includes("before");
}

/**
 * Writer of the agent's changes: reviewed after the write or before it, as the user's setting says. `shown` is called when
 * an edit comes up for review, with the place where it can be seen.
 */
export function editReview(
  applied: AppliedEdits,
  proposals: Proposals,
  shown: (path: string, where: "file" | "proposal") => void,
): EditReview {
  return {
    async write(edit, signal, writing) {
      // An empty file that comes or goes has no hunk to decide about.
      if (isReviewedBefore() && (edit.after ?? "") !== (edit.expected ?? "")) {
        const propose = () => shown(edit.path, "proposal");
        return proposals.decide(edit, { signal, proposed: propose }, (decided) => {
          writing();
          return applied.writeAccepted(decided);
        });
      }
      writing();
      const written = await applied.apply(edit);
      if (edit.after !== null) shown(edit.path, "file");
      return { written };
    },
    revert: (edit) => applied.revert(edit),
    move: (file, move) => applied.move(file, move),
  };
}
