/** Files under review in VS Code's lists: our own view, the source control, and badges on files. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { gitApi } from "../commands/git-repository.ts";
import { GONE_SCHEME, originalUri, PROPOSAL_SCHEME, type Review } from "./review.ts";

export const REVIEW_VIEW = "hermes.edits";

const STATES: Readonly<Record<string, string>> = {
  [PROPOSAL_SCHEME]: vscode.l10n.t("waits for your decision"),
  [GONE_SCHEME]: vscode.l10n.t("deleted"),
};

/** The view of all documents under review, until the result is disposed of. */
export function showReviewTree(review: Review, onDidSettle: vscode.Event<void>): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const treeDataProvider: vscode.TreeDataProvider<vscode.Uri> = {
    onDidChangeTreeData: changed.event,
    getChildren: (parent) => (parent === undefined ? [...review.documents] : []),
    getTreeItem: (uri) => itemOf(uri, review.hunks(uri)),
  };
  const view = vscode.window.createTreeView(REVIEW_VIEW, { treeDataProvider });
  const refresh = (): void => {
    // The badge of the chat counts proposals already.
    const { length: value } = review.documents.filter(({ scheme }) => scheme !== PROPOSAL_SCHEME);
    const tooltip = value === 1 ? vscode.l10n.t("1 file to review") : vscode.l10n.t("{0} files to review", value);
    view.badge = value === 0 ? undefined : { value, tooltip };
    changed.fire();
  };
  return vscode.Disposable.from(changed, view, onDidSettle(refresh));
}

function itemOf(uri: vscode.Uri, hunks: readonly Hunk[]): vscode.TreeItem {
  const file = vscode.Uri.file(uri.fsPath);
  const item = new vscode.TreeItem(file, vscode.TreeItemCollapsibleState.None);
  const state = STATES[uri.scheme];
  const size = hunks.length === 1 ? vscode.l10n.t("1 hunk") : vscode.l10n.t("{0} hunks", hunks.length);
  item.description = state === undefined ? counts(hunks) : `${state} · ${counts(hunks)}`;
  item.tooltip = `${vscode.workspace.asRelativePath(file)}: ${size}`;
  item.contextValue = uri.scheme === PROPOSAL_SCHEME ? "proposal" : "edit";
  item.command = openCommand(uri);
  return item;
}

function openCommand(uri: vscode.Uri): vscode.Command {
  return { title: vscode.l10n.t("Open"), command: "hermes.openReview", arguments: [uri.toString()] };
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
    this.#group.resourceStates = files.map((resourceUri) => ({ resourceUri, command: openCommand(resourceUri) }));
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

/** Settles when git has found its repositories: VS Code's status bar shows the branch of the first source control. */
async function gitReady(): Promise<void> {
  const api = await gitApi().catch(() => undefined); // without git, ours is the first
  if (api?.state !== "uninitialized") return;
  await new Promise<void>((resolve) => {
    const subscription = api.onDidChangeState(() => {
      subscription.dispose();
      resolve();
    });
  });
}

/** A letter on every file under review, in the explorer and on its tab, until the result is disposed of. */
export function badgeFiles(review: Review): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  return vscode.Disposable.from(
    changed,
    review.onDidChange((uri) => changed.fire(vscode.Uri.file(uri.fsPath))),
    vscode.window.registerFileDecorationProvider({
      onDidChangeFileDecorations: changed.event,
      provideFileDecoration({ scheme, fsPath }) {
        const documents = scheme === "file" ? review.documentsOf(fsPath) : [];
        if (documents.length === 0) return undefined;
        const isProposed = documents.some((document) => document.scheme === PROPOSAL_SCHEME);
        return {
          badge: "H",
          tooltip: isProposed
            ? vscode.l10n.t("An edit by Hermes waits for your decision")
            : vscode.l10n.t("Edits by Hermes to review"),
          color: new vscode.ThemeColor("hermes.fileForeground"),
        };
      },
    }),
  );
}
