/** How hunks look in the file itself: coloured lines, the removed text as a ghost and in the hover, overview marks. */
import * as vscode from "vscode";
import { ghostText } from "./ghost-text.ts";
import type { Hunk } from "./hunks.ts";
import type { Review } from "./review.ts";

export class HunkMarks implements vscode.Disposable {
  readonly #review: Review;
  readonly #added = lineDecoration("hermes.addedLineBackground", "hermes.addedOverviewRuler");
  readonly #changed = lineDecoration("hermes.changedLineBackground", "hermes.changedOverviewRuler");
  readonly #removed = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: new vscode.ThemeColor("hermes.removedOverviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  readonly #subscriptions: vscode.Disposable[];

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#added,
      this.#changed,
      this.#removed,
      review.onDidChange((uri) => this.#mark((shown) => shown.toString() === uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#mark(() => true)),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #mark(isMeant: (uri: vscode.Uri) => boolean): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      if ((document.uri.scheme !== "file" && document.uri.scheme !== "untitled") || !isMeant(document.uri)) continue;
      const hunks = this.#review.hunks(document.uri);
      const withNew = hunks.filter(({ newLines }) => newLines.length > 0);
      editor.setDecorations(this.#added, withNew.filter(({ oldLines }) => oldLines.length === 0).map(rangeOf));
      editor.setDecorations(this.#changed, withNew.filter(({ oldLines }) => oldLines.length > 0).map(rangeOf));
      editor.setDecorations(
        this.#removed,
        hunks.filter(({ oldLines }) => oldLines.length > 0).map((hunk) => removedMark(hunk, document)),
      );
    }
  }
}

function lineDecoration(background: string, overview: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    overviewRulerColor: new vscode.ThemeColor(overview),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

function rangeOf({ newStart, newLines }: Hunk): vscode.Range {
  return new vscode.Range(newStart, 0, newStart + newLines.length - 1, 0);
}

/** Beside the hunk's first line, or beside the line that follows what was removed. */
function removedMark(hunk: Hunk, document: vscode.TextDocument): vscode.DecorationOptions {
  const { end } = document.lineAt(Math.min(hunk.newStart, document.lineCount - 1)).range;
  const removed = new vscode.MarkdownString("Before Hermes:").appendCodeblock(
    hunk.oldLines.join(""),
    document.languageId,
  );
  const ghost = ghostText(hunk);
  const range = new vscode.Range(end, end);
  if (ghost === "") return { range, hoverMessage: removed };
  const after = {
    contentText: ghost,
    margin: "0 0 0 2em",
    color: new vscode.ThemeColor("hermes.removedTextForeground"),
    textDecoration: "line-through",
  };
  return { range, hoverMessage: removed, renderOptions: { after } };
}
