/** A letter on every file under review, in the explorer and on its tab. */
import * as vscode from "vscode";
import { PROPOSAL_SCHEME, type Review } from "./review.ts";

export class FileBadges implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #review: Review;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeFileDecorations = this.#changed.event;

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#changed,
      review.onDidChange((uri) => this.#changed.fire(vscode.Uri.file(uri.fsPath))),
      vscode.window.registerFileDecorationProvider(this),
    ];
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== "file") return undefined;
    const documents = this.#review.documentsOf(uri.fsPath);
    if (documents.length === 0) return undefined;
    const isProposed = documents.some(({ scheme }) => scheme === PROPOSAL_SCHEME);
    return {
      badge: "H",
      tooltip: isProposed ? "An edit by Hermes waits for your verdict" : "Edits by Hermes to review",
      color: new vscode.ThemeColor("hermes.fileForeground"),
    };
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
