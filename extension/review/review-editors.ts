/** How a review looks in the real file: marked lines, actions over each hunk, and the text before the agent. */
import * as vscode from "vscode";
import type { Review } from "./review.ts";

/** Scheme of the documents that hold a file's text before the agent's edits. */
const BASELINE_SCHEME = "hermes-baseline";

export class ReviewEditors implements vscode.CodeLensProvider, vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #review: Review;
  readonly #added = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("hermes.addedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("hermes.overviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  readonly #removed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: "1px 0 0 0",
    borderStyle: "solid",
    borderColor: new vscode.ThemeColor("hermes.removedLineBorder"),
    overviewRulerColor: new vscode.ThemeColor("hermes.overviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #baselineChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.#lensesChanged.event;
  readonly onDidChange = this.#baselineChanged.event;

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#added,
      this.#removed,
      this.#lensesChanged,
      this.#baselineChanged,
      review.onDidChange(() => this.#refresh()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#decorate()),
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.workspace.registerTextDocumentContentProvider(BASELINE_SCHEME, this),
    ];
  }

  /** Opens the edits of a file as a diff against the file itself, which stays editable. */
  async openDiff(path: string, preserveFocus: boolean): Promise<void> {
    const file = vscode.Uri.file(path);
    const title = `${vscode.workspace.asRelativePath(file)} (Hermes)`;
    await vscode.commands.executeCommand("vscode.diff", baselineUri(path), file, title, {
      preserveFocus,
      preview: true,
    });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#review.baseline(uri.fsPath);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const path = document.uri.fsPath;
    return this.#review.hunks(path).flatMap((hunk, index, all) => {
      const line = Math.min(hunk.newStart, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      const lens = (title: string, command: string): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, command, arguments: [path, index] });
      const count = `+${hunk.newLines.length} −${hunk.oldLines.length}`;
      const lenses = [lens(`$(check) Keep ${count}`, "hermes.keepHunk"), lens("$(discard) Undo", "hermes.undoHunk")];
      return all.length > 1 ? [...lenses, lens(`Next (${index + 1} of ${all.length})`, "hermes.nextHunk")] : lenses;
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #refresh(): void {
    this.#lensesChanged.fire();
    for (const { path } of this.#review.files) this.#baselineChanged.fire(baselineUri(path));
    this.#decorate();
  }

  #decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== "file") continue;
      const hunks = this.#review.hunks(editor.document.uri.fsPath);
      const added = hunks.filter(({ newLines }) => newLines.length > 0);
      editor.setDecorations(
        this.#added,
        added.map(({ newStart, newLines }) => new vscode.Range(newStart, 0, newStart + newLines.length - 1, 0)),
      );
      editor.setDecorations(
        this.#removed,
        hunks
          .filter(({ oldLines }) => oldLines.length > 0)
          .map(({ newStart, oldLines }) => ({
            range: new vscode.Range(newStart, 0, newStart, 0),
            hoverMessage: new vscode.MarkdownString().appendCodeblock(oldLines.join(""), editor.document.languageId),
          })),
      );
    }
  }
}

function baselineUri(path: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: BASELINE_SCHEME });
}
