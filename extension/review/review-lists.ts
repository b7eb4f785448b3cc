/** Files under review in VS Code's lists: our own view, the source control, and badges on files. */
import * as vscode from "vscode";
import type { Hunk } from "./hunks.ts";
import { GONE_SCHEME, originalUri, PROPOSAL_SCHEME, type Review } from "./review.ts";

export const REVIEW_VIEW = "hermes.edits";

const STATES: Readonly<Record<string, string>> = {
  [PROPOSAL_SCHEME]: vscode.l10n.t("waits for your decision"),
  [GONE_SCHEME]: vscode.l10n.t("deleted"),
};

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
    const state = STATES[uri.scheme];
    item.description = state === undefined ? counts(hunks) : `${state} · ${counts(hunks)}`;
    item.tooltip = `${vscode.workspace.asRelativePath(file)}: ${hunks.length === 1 ? vscode.l10n.t("1 hunk") : vscode.l10n.t("{0} hunks", hunks.length)}`;
    item.contextValue = isProposal ? "proposal" : "edit";
    item.command = { title: vscode.l10n.t("Open"), command: "hermes.openReview", arguments: [uri.toString()] };
    return item;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#view.dispose();
    this.#changed.dispose();
  }

  #refresh(): void {
    // The badge of the chat counts proposals already.
    const { length } = this.#review.documents.filter(({ scheme }) => scheme !== PROPOSAL_SCHEME);
    this.#view.badge =
      length === 0
        ? undefined
        : {
            value: length,
            tooltip: length === 1 ? vscode.l10n.t("1 file to review") : vscode.l10n.t("{0} files to review", length),
          };
    this.#changed.fire();
  }
}

function counts(hunks: readonly Hunk[]): string {
  const added = hunks.reduce((sum, { newLines }) => sum + newLines.length, 0);
  const removed = hunks.reduce((sum, { oldLines }) => sum + oldLines.length, 0);
  return `+${added} −${removed}`;
}

/**
 * Change bars in the gutter and their peek: VS Code's quick diff against the baselines. Exists only while edits are up for
 * review, without a count and an input box, so that git's view stays as it is.
 */
export class ReviewSourceControl implements vscode.Disposable {
  readonly #review: Review;
  readonly #subscription: vscode.Disposable;
  #control: vscode.SourceControl | undefined;
  #group: vscode.SourceControlResourceGroup | undefined;

  #isGitReady: boolean = false;

  constructor(review: Review) {
    this.#review = review;
    this.#subscription = review.onDidChange(() => this.#refresh());
    void gitReady().then(() => {
      this.#isGitReady = true;
      this.#refresh();
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#control?.dispose();
  }

  #refresh(): void {
    const files = this.#review.documents.filter(({ scheme }) => scheme === "file");
    if (files.length === 0) {
      this.#control?.dispose();
      this.#control = undefined;
      this.#group = undefined;
      return;
    }
    if (!this.#isGitReady) return;
    this.#group ??= this.#create();
    const shown = this.#group.resourceStates.map(({ resourceUri }) => resourceUri.toString());
    if (files.length === shown.length && files.every((uri, index) => uri.toString() === shown[index])) return;
    this.#group.resourceStates = files.map((resourceUri) => ({
      resourceUri,
      command: { title: vscode.l10n.t("Open"), command: "hermes.openReview", arguments: [resourceUri.toString()] },
    }));
  }

  #create(): vscode.SourceControlResourceGroup {
    const control = vscode.scm.createSourceControl("hermes", "Hermes");
    control.inputBox.visible = false;
    control.count = 0;
    control.quickDiffProvider = {
      provideOriginalResource: (uri) => (this.#review.find(uri) === undefined ? undefined : originalUri(uri)),
    };
    this.#control = control;
    return control.createResourceGroup("edits", vscode.l10n.t("Edits to Review"));
  }
}

type GitApi = { readonly state: "uninitialized" | "initialized"; readonly onDidChangeState: vscode.Event<unknown> };

/** Settles when git has found its repositories: VS Code's status bar shows the branch of the first source control. */
async function gitReady(): Promise<void> {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>("vscode.git");
  try {
    const api = (await git?.activate())?.getAPI(1);
    if (api?.state !== "uninitialized") return;
    await new Promise<void>((resolve) => {
      const subscription = api.onDidChangeState(() => {
        subscription.dispose();
        resolve();
      });
    });
  } catch {
    // `git.enabled` is off
  }
}

/** A letter on every file under review, in the explorer and on its tab. */
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
      tooltip: isProposed
        ? vscode.l10n.t("An edit by Hermes waits for your decision")
        : vscode.l10n.t("Edits by Hermes to review"),
      color: new vscode.ThemeColor("hermes.fileForeground"),
    };
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
