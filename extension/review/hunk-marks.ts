/** Marks of hunks in the editor: tinted lines, new words, removed words struck through, and the overview ruler. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { hunkLook, TOO_LONG } from "./hunk-look.ts";
import { CELL_SCHEME, shownHunks } from "./notebook-hunks.ts";
import type { Review } from "./review.ts";

/** Marks the hunks in the visible editors, until the result is disposed of. */
export function markHunks(review: Review): vscode.Disposable {
  const looks = decorations();
  const mark = (isMeant: (uri: vscode.Uri) => boolean): void => {
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri } = editor.document;
      if (["file", "untitled", CELL_SCHEME].includes(uri.scheme) && isMeant(uri)) markEditor(review, looks, editor);
    }
  };
  return vscode.Disposable.from(
    ...Object.values(looks),
    review.onDidChange((uri) => mark((shown) => shown.fsPath === uri.fsPath)),
    vscode.window.onDidChangeVisibleTextEditors(() => mark(() => true)),
    // A cell gets the new text after the file, with or without an editor of its own.
    vscode.workspace.onDidChangeNotebookDocument(() => mark(({ scheme }) => scheme === CELL_SCHEME)),
    vscode.window.onDidChangeTextEditorViewColumn(() => mark(() => true)),
  );
}

type Decorations = ReturnType<typeof decorations>;

function decorations() {
  return {
    added: lineDecoration("hermes.addedOverviewRuler"),
    changed: lineDecoration("hermes.changedOverviewRuler"),
    /** The line below removed text; the last line, when the text after it is removed. */
    removedAbove: edgeDecoration("1px 0 0 0"),
    removedBelow: edgeDecoration("0 0 1px 0"),
    inserted: vscode.window.createTextEditorDecorationType({
      backgroundColor: new vscode.ThemeColor("hermes.addedTextBackground"),
      outline: "1px solid",
      outlineColor: new vscode.ThemeColor("hermes.addedTextBorder"),
    }),
    struck: vscode.window.createTextEditorDecorationType({
      before: {
        color: new vscode.ThemeColor("hermes.removedTextForeground"),
        backgroundColor: new vscode.ThemeColor("hermes.removedTextBackground"),
        textDecoration: "line-through",
        margin: "0 1px 0 0",
      },
    }),
  };
}

function markEditor(review: Review, types: Decorations, editor: vscode.TextEditor): void {
  const { document } = editor;
  // A diff editor has no column, and marks of its own. A cell has no column either.
  const isDiff = editor.viewColumn === undefined && document.uri.scheme !== CELL_SCHEME;
  const shown = isDiff ? [] : shownHunks(review, document);
  // Changed outputs or metadata of a cell have no lines.
  const hunks = shown.map(({ hunk }) => hunk).filter(({ oldLines, newLines }) => oldLines.length + newLines.length > 0);
  const looks = hunks.map((hunk) => ({ hunk, ...hunkLook(hunk, isWrapped(document)) }));
  const withNew = hunks.filter(({ newLines }) => newLines.length > 0);
  const gone = hunks.filter(({ newLines }) => newLines.length === 0).map(({ newStart }) => newStart);
  const isInside = (line: number): boolean => line < document.lineCount;
  const insertedIn = ({ hunk, inserted }: (typeof looks)[number]) =>
    inserted.map(({ line, start, end }) => rangeOf(hunk.newStart + line, start, end));
  const struckIn = ({ hunk, struck }: (typeof looks)[number]) =>
    struck.map(({ line, at, text: contentText }) => ({
      range: rangeOf(hunk.newStart + line, at),
      // A line through the dots of an ellipsis looks like another sign.
      renderOptions: { before: { contentText, ...(contentText === TOO_LONG && { textDecoration: "none" }) } },
    }));
  const end = gone.some((line) => !isInside(line)) ? [rangeOf(document.lineCount - 1)] : [];
  editor.setDecorations(types.added, withNew.filter(({ oldLines }) => oldLines.length === 0).map(linesOf));
  editor.setDecorations(types.changed, withNew.filter(({ oldLines }) => oldLines.length > 0).map(linesOf));
  const above = gone.filter(isInside).map((line) => rangeOf(line));
  editor.setDecorations(types.removedAbove, above);
  editor.setDecorations(types.removedBelow, end);
  editor.setDecorations(types.inserted, looks.flatMap(insertedIn));
  editor.setDecorations(types.struck, looks.flatMap(struckIn));
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
