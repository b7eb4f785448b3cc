/** Shows edits under review: in the file, as a diff against the baseline, or all files at once. */
import * as vscode from "vscode";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import { HunkCaret } from "./hunk-caret.ts";
import { GONE_SCHEME, originalUri, PROPOSAL_SCHEME, proposalUri, type Review } from "./review.ts";

const TITLES: Readonly<Record<string, string>> = {
  [PROPOSAL_SCHEME]: "Hermes proposes",
  [GONE_SCHEME]: "deleted by Hermes",
};

export class ReviewOpener implements vscode.Disposable {
  readonly caret = new HunkCaret();
  readonly #keyQueue = new KeyedQueue();
  readonly #review: Review;
  readonly #subscription: vscode.Disposable;

  /** `report` gets messages about diffs that could not be closed. */
  constructor(review: Review, report: (problem: string) => void) {
    this.#review = review;
    this.#subscription = review.onDidChange((uri) => {
      if (uri.scheme !== PROPOSAL_SCHEME || review.find(uri) !== undefined) return;
      closeDiff(uri).catch((error: unknown) => report(String(error)));
    });
  }

  /** Shows a new edit without taking the focus; always for a proposal, because the agent waits. */
  async showEdit(path: string, where: "file" | "proposal"): Promise<void> {
    if (where === "proposal") return this.openDiff(proposalUri(path), true);
    const uri = vscode.Uri.file(path);
    const [hunk] = this.#review.hunks(uri);
    if (hunk === undefined) return;
    switch (vscode.workspace.getConfiguration("hermes").get<string>("review.open")) {
      case "diff":
        return this.openDiff(uri, true);
      case "file": {
        const at = new vscode.Position(hunk.newStart, 0);
        const editor =
          shownEditor(uri) ?? (await vscode.window.showTextDocument(uri, { preserveFocus: true, preview: true }));
        editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
        return;
      }
      default:
    }
  }

  /**
   * Opens a document under review as a diff against its baseline, at a line (from 0) if one is given. A file stays editable
   * there.
   */
  async openDiff(uri: vscode.Uri, preserveFocus: boolean, line?: number): Promise<void> {
    const label = vscode.workspace.asRelativePath(uri.fsPath);
    const title = `${label} (${TITLES[uri.scheme] ?? "Hermes"})`;
    const selection = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
    const options: vscode.TextDocumentShowOptions = { preserveFocus, preview: true, ...(selection && { selection }) };
    await vscode.commands.executeCommand("vscode.diff", originalUri(uri), uri, title, options);
  }

  /** Opens all edits under review in one multi-file diff. */
  async openAll(): Promise<void> {
    const resources = this.#review.documents.map((uri) => [vscode.Uri.file(uri.fsPath), originalUri(uri), uri]);
    await vscode.commands.executeCommand("vscode.changes", "Edits by Hermes", resources);
  }

  /** Runs the action of a key after those of earlier keys: each acts on the result of the one before it. */
  inOrder<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.#keyQueue.run("hunks", action);
  }

  dispose(): void {
    this.caret.dispose();
    this.#subscription.dispose();
  }
}

/** Visible editor of a file, also in a diff that the user has opened; nothing must cover it. */
function shownEditor(uri: vscode.Uri): vscode.TextEditor | undefined {
  return vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
}

/** Closes the diff of a decided proposal. */
async function closeDiff(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString());
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
}
