/**
 * Shows edits under review: in the file, as a diff against the baseline, or all files at once. An edit opens by itself
 * only while the keyboard is in the panel: elsewhere, a new tab would take keys meant for another editor.
 */
import * as vscode from "vscode";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import { HunkCaret } from "./hunk-caret.ts";
import { openNotebook, showInCell } from "./notebook-hunks.ts";
import { GONE_SCHEME, originalUri, PROPOSAL_SCHEME, proposalUri, type Review } from "./review.ts";

const TITLES: Readonly<Record<string, string>> = {
  [PROPOSAL_SCHEME]: vscode.l10n.t("Hermes proposes"),
  [GONE_SCHEME]: vscode.l10n.t("deleted by Hermes"),
};

/** The panels, which know if the keyboard is in one of them. */
export type PanelFocus = {
  readonly haveFocus: () => Promise<boolean>;
  readonly onDidFocus: vscode.Event<void>;
};

type ShownEdit = { readonly path: string; readonly where: "file" | "proposal" };

export class ReviewOpener implements vscode.Disposable {
  readonly caret = new HunkCaret();
  readonly #keyQueue = new KeyedQueue();
  readonly #review: Review;
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #panels: PanelFocus;
  /** The last edit that waits for the keyboard focus in a panel. */
  #pending: ShownEdit | undefined;

  /** `report` gets messages about editors that could not be opened or closed. */
  constructor(review: Review, panels: PanelFocus, report: (problem: string) => void) {
    this.#review = review;
    this.#panels = panels;
    this.#subscriptions = [
      review.onDidChange((uri) => {
        if (uri.scheme !== PROPOSAL_SCHEME || review.find(uri) !== undefined) return;
        closeDiff(uri).catch((error: unknown) => report(String(error)));
      }),
      panels.onDidFocus(() => {
        const edit = this.#pending;
        this.#pending = undefined;
        if (edit !== undefined) this.#open(edit).catch((error: unknown) => report(String(error)));
      }),
    ];
  }

  /**
   * Shows a new edit without taking the focus, when the keyboard is in a panel. Keys go into the file in front, and VS Code
   * reports them after their arrival: only the page of the panel knows that the next key is not for that file. A proposal,
   * and an edit of a window in the background, wait until the user comes to a panel. The review bar has all edits.
   */
  async showEdit(path: string, where: "file" | "proposal"): Promise<void> {
    const isAway = !vscode.window.state.focused;
    const isInPanel = await this.#panels.haveFocus();
    if (isInPanel) this.#pending = undefined;
    else if (isAway || where === "proposal") this.#pending = { path, where };
    if (isInPanel) await this.#open({ path, where });
  }

  /** Shows an edit that the user has just made in the panel. */
  reveal(path: string): Promise<void> {
    return this.#open({ path, where: "file" });
  }

  async #open({ path, where }: ShownEdit): Promise<void> {
    if (where === "proposal" && this.#review.find(proposalUri(path)) === undefined) return; // decided meanwhile
    if (where === "proposal") return this.openDiff(proposalUri(path), true);
    const uri = vscode.Uri.file(path);
    const [hunk] = this.#review.hunks(uri);
    if (hunk === undefined) return;
    switch (vscode.workspace.getConfiguration("hermes").get<string>("review.open")) {
      case "diff":
        return this.openDiff(uri, true);
      case "file": {
        if (openNotebook(uri) !== undefined) return showInCell(this.#review, { uri, line: hunk.newStart }, true);
        const at = new vscode.Position(hunk.newStart, 0);
        const options = { preserveFocus: true, preview: true };
        const editor = shownEditor(uri) ?? (await vscode.window.showTextDocument(uri, options));
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
    await vscode.commands.executeCommand("vscode.changes", vscode.l10n.t("Edits by Hermes"), resources);
  }

  /** Runs the action of a key after those of earlier keys: each acts on the result of the one before it. */
  inOrder<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.#keyQueue.run("hunks", action);
  }

  dispose(): void {
    this.caret.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
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
