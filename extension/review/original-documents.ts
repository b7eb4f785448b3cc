/** Documents that are no files: the text before the edits, and what is proposed. */
import * as vscode from "vscode";
import {
  ACCEPTED_SCHEME,
  BASELINE_SCHEME,
  GONE_SCHEME,
  originalUri,
  PROPOSAL_SCHEME,
  proposalUri,
  type Review,
} from "./review.ts";

export class OriginalDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #review: Review;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChange = this.#changed.event;

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#changed,
      review.onDidChange((uri) => {
        this.#changed.fire(originalUri(uri));
        if (uri.scheme === PROPOSAL_SCHEME) this.#changed.fire(uri);
      }),
      ...[BASELINE_SCHEME, ACCEPTED_SCHEME, PROPOSAL_SCHEME, GONE_SCHEME].map((scheme) =>
        vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      ),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const { fsPath: path } = uri;
    if (uri.scheme === GONE_SCHEME) return "";
    if (uri.scheme === BASELINE_SCHEME) return this.#review.find(vscode.Uri.file(path))?.baseline ?? "";
    const proposal = this.#review.find(proposalUri(path));
    return (uri.scheme === PROPOSAL_SCHEME ? proposal?.present : proposal?.baseline) ?? "";
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
