/** How hunks look in the file itself: coloured lines, the removed text as a ghost and in the hover, overview marks. */
import * as vscode from "vscode";
import type { Hunk } from "./hunks.ts";
import type { Review } from "./review.ts";

/** Characters of removed text shown beside a line; the hover has all of it. */
const GHOST_CHARS = 60;

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
function removedMark({ newStart, oldLines }: Hunk, document: vscode.TextDocument): vscode.DecorationOptions {
  const { end } = document.lineAt(Math.min(newStart, document.lineCount - 1)).range;
  const hoverMessage = new vscode.MarkdownString("Removed by Hermes:").appendCodeblock(
    oldLines.join(""),
    document.languageId,
  );
  return {
    range: new vscode.Range(end, end),
    hoverMessage,
    renderOptions: {
      after: {
        contentText: ghostText(oldLines),
        margin: "0 0 0 2em",
        color: new vscode.ThemeColor("hermes.removedTextForeground"),
        textDecoration: "line-through",
      },
    },
  };
}

function ghostText(oldLines: readonly string[]): string {
  const [first = "", ...rest] = oldLines.map((line) => line.trim()).filter((line) => line !== "");
  const cut = first.length > GHOST_CHARS ? `${first.slice(0, GHOST_CHARS)}…` : first;
  if (oldLines.length === 1) return cut === "" ? "1 empty line" : cut;
  return rest.length === 0 ? `${oldLines.length} lines` : `${cut} … (${oldLines.length} lines)`;
}
