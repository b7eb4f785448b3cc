// The review as the extension builds it, on a store of its own, so that a suite can throw it away and build it again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { EditReview } from "../../../extension/client/client-services.ts";
import { AppliedEdits } from "../../../extension/review/applied-edits.ts";
import { editReview } from "../../../extension/review/build-review.ts";
import { registerHunkHover } from "../../../extension/review/hunk-hover.ts";
import { registerHunkLenses } from "../../../extension/review/hunk-lenses.ts";
import { markHunks } from "../../../extension/review/hunk-marks.ts";
import { Proposals } from "../../../extension/review/proposals.ts";
import { provideOriginals } from "../../../extension/review/read-only-documents.ts";
import { Review } from "../../../extension/review/review.ts";
import { ReviewOpener } from "../../../extension/review/review-opener.ts";
import { ReviewStore } from "../../../extension/review/review-store.ts";

export class ReviewDesk {
  readonly storage: string;
  readonly store: ReviewStore;
  readonly applied: AppliedEdits;
  readonly proposals: Proposals;
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly editReview: EditReview;
  /** Focus of the panel, which a test changes. */
  isInPanel = true;
  readonly focused = new vscode.EventEmitter<void>();
  readonly panels = { haveFocus: async () => this.isInPanel, onDidFocus: this.focused.event };
  /** Errors of reading and writing. */
  readonly problems: string[] = [];
  readonly #subscriptions: vscode.Disposable[];

  /** `storage` is the folder that an earlier desk left. */
  constructor(storage = mkdtempSync(join(tmpdir(), "hermes-review-"))) {
    this.storage = storage;
    const tell = (problem: string): void => void this.problems.push(problem);
    this.store = new ReviewStore(vscode.Uri.file(storage), tell);
    this.applied = new AppliedEdits(this.store, tell);
    this.proposals = new Proposals();
    this.review = new Review(this.applied, this.proposals);
    this.opener = new ReviewOpener(this.review, this.panels, tell);
    this.editReview = editReview(this.applied, this.proposals, () => undefined);
    this.#subscriptions = [
      this.applied,
      this.proposals,
      this.review,
      this.opener,
      registerHunkLenses(this.review),
      markHunks(this.review),
      registerHunkHover(this.review),
      provideOriginals(this.review),
    ];
  }

  /** The desk of the next window on the same storage. */
  async reloaded(): Promise<ReviewDesk> {
    await this.store.flush();
    this.#close();
    const next = new ReviewDesk(this.storage);
    await next.applied.restore();
    return next;
  }

  async dispose(): Promise<void> {
    await this.store.flush();
    this.#close();
    rmSync(this.storage, { recursive: true });
  }

  #close(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
