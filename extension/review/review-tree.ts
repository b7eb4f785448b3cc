/** The list of files under review, with what each has to decide about. */
import * as vscode from "vscode";
import type { Hunk } from "./hunks.ts";
import { GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";

export const REVIEW_VIEW = "hermes.edits";

const STATES: Readonly<Record<string, string>> = { [PROPOSAL_SCHEME]: "waits for you · ", [GONE_SCHEME]: "deleted · " };

export class ReviewTree implements vscode.TreeDataProvider<vscode.Uri>, vscode.Disposable {
  readonly #review: Review;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #view: vscode.TreeView<vscode.Uri>;
  readonly #subscription: vscode.Disposable;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(review: Review, onDidSettle: vscode.Event<void>) {
    this.#review = review;
    this.#view = vscode.window.createTreeView(REVIEW_VIEW, { treeDataProvider: this });
    this.#subscription = onDidSettle(() => this.#refresh());
  }

  getChildren(parent?: vscode.Uri): vscode.Uri[] {
    return parent === undefined ? [...this.#review.documents] : [];
  }

  getTreeItem(uri: vscode.Uri): vscode.TreeItem {
    const file = vscode.Uri.file(uri.fsPath);
    const isProposal = uri.scheme === PROPOSAL_SCHEME;
    const item = new vscode.TreeItem(file, vscode.TreeItemCollapsibleState.None);
    const hunks = this.#review.hunks(uri);
    item.description = `${STATES[uri.scheme] ?? ""}${counts(hunks)}`;
    item.tooltip = `${vscode.workspace.asRelativePath(file)}: ${hunks.length === 1 ? "1 hunk" : `${hunks.length} hunks`}`;
    item.contextValue = isProposal ? "proposal" : "edit";
    item.command = { title: "Open", command: "hermes.openReview", arguments: [uri.toString()] };
    return item;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#view.dispose();
    this.#changed.dispose();
  }

  #refresh(): void {
    // What waits for a verdict counts at the chat already.
    const { length } = this.#review.documents.filter(({ scheme }) => scheme !== PROPOSAL_SCHEME);
    this.#view.badge =
      length === 0 ? undefined : { value: length, tooltip: `${length === 1 ? "1 file" : `${length} files`} to review` };
    this.#changed.fire();
  }
}

function counts(hunks: readonly Hunk[]): string {
  const added = hunks.reduce((sum, { newLines }) => sum + newLines.length, 0);
  const removed = hunks.reduce((sum, { oldLines }) => sum + oldLines.length, 0);
  return `+${added} −${removed}`;
}
