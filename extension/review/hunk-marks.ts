/** Marks of hunks in the editor: tinted lines, new words, removed words struck through, and the overview ruler. */
import * as vscode from "vscode";
import { hunkLook } from "./hunk-look.ts";
import type { Hunk } from "./hunks.ts";
import { CELL_SCHEME, shownHunks } from "./notebook-hunks.ts";
import type { Review } from "./review.ts";

export class HunkMarks implements vscode.Disposable {
  readonly #review: Review;
  readonly #added = lineDecoration("hermes.addedOverviewRuler");
  readonly #changed = lineDecoration("hermes.changedOverviewRuler");
  /** The line below removed text; the last line, when the text after it is removed. */
  readonly #removedAbove = edgeDecoration("1px 0 0 0");
  readonly #removedBelow = edgeDecoration("0 0 1px 0");
  readonly #inserted = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("hermes.addedTextBackground"),
    outline: "1px solid",
    outlineColor: new vscode.ThemeColor("hermes.addedTextBorder"),
  });
  readonly #struck = vscode.window.createTextEditorDecorationType({
    before: {
      color: new vscode.ThemeColor("hermes.removedTextForeground"),
      backgroundColor: new vscode.ThemeColor("hermes.removedTextBackground"),
      textDecoration: "line-through",
      margin: "0 1px 0 0",
    },
  });
  readonly #subscriptions: vscode.Disposable[];

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      ...[this.#added, this.#changed, this.#removedAbove, this.#removedBelow, this.#inserted, this.#struck],
      review.onDidChange((uri) => this.#mark((shown) => shown.fsPath === uri.fsPath)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#mark(() => true)),
      // A cell gets the new text after the file, with or without an editor of its own.
      vscode.workspace.onDidChangeNotebookDocument(() => this.#mark(({ scheme }) => scheme === CELL_SCHEME)),
      vscode.window.onDidChangeTextEditorViewColumn(() => this.#mark(() => true)),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #mark(isMeant: (uri: vscode.Uri) => boolean): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri } = editor.document;
      if (["file", "untitled", CELL_SCHEME].includes(uri.scheme) && isMeant(uri)) this.#markHunks(editor);
    }
  }

  #markHunks(editor: vscode.TextEditor): void {
    const { document } = editor;
    // A diff editor has no column, and marks of its own. A cell has no column either.
    const isDiff = editor.viewColumn === undefined && document.uri.scheme !== CELL_SCHEME;
    const hunks = isDiff
      ? []
      : shownHunks(this.#review, document)
          .map(({ hunk }) => hunk)
          .filter(hasLines);
    const looks = hunks.map((hunk) => ({ hunk, ...hunkLook(hunk, isWrapped(document)) }));
    const withNew = hunks.filter(({ newLines }) => newLines.length > 0);
    const gone = hunks.filter(({ newLines }) => newLines.length === 0).map(({ newStart }) => newStart);
    const isInside = (line: number): boolean => line < document.lineCount;
    editor.setDecorations(this.#added, withNew.filter(({ oldLines }) => oldLines.length === 0).map(linesOf));
    editor.setDecorations(this.#changed, withNew.filter(({ oldLines }) => oldLines.length > 0).map(linesOf));
    editor.setDecorations(
      this.#removedAbove,
      gone.filter(isInside).map((line) => rangeOf(line)),
    );
    const isEndGone = gone.some((line) => !isInside(line));
    editor.setDecorations(this.#removedBelow, isEndGone ? [rangeOf(document.lineCount - 1)] : []);
    editor.setDecorations(
      this.#inserted,
      looks.flatMap(({ hunk, inserted }) =>
        inserted.map(({ line, start, end }) => rangeOf(hunk.newStart + line, start, end)),
      ),
    );
    editor.setDecorations(
      this.#struck,
      looks.flatMap(({ hunk, struck }) =>
        struck.map(({ line, at, text: contentText }) => ({
          range: rangeOf(hunk.newStart + line, at),
          renderOptions: { before: { contentText } },
        })),
      ),
    );
  }
}

/** False for changed outputs or metadata of a cell. */
function hasLines({ oldLines, newLines }: Hunk): boolean {
  return oldLines.length + newLines.length > 0;
}

function linesOf({ newStart, newLines }: Hunk): vscode.Range {
  return new vscode.Range(newStart, 0, newStart + newLines.length - 1, 0);
}

function rangeOf(line: number, start = 0, end = start): vscode.Range {
  return new vscode.Range(line, start, line, end);
}

function lineDecoration(overview: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("hermes.addedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor(overview),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

/** A line at the place of removed text. */
function edgeDecoration(borderWidth: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth,
    borderStyle: "solid",
    borderColor: new vscode.ThemeColor("hermes.removedTextForeground"),
    overviewRulerColor: new vscode.ThemeColor("hermes.removedOverviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

/** The setting; wrapping that the user toggles in one editor cannot be read. */
export function isWrapped(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration("editor", document).get<string>("wordWrap", "off") !== "off";
}
