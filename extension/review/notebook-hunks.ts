/** Hunks of a notebook's file, which is JSON, in the documents of its cells. */
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import * as vscode from "vscode";
import { type Hunk, hunksBetween, splitLines } from "../../agent-core/platform/hunks.ts";
import type { CaretPlace } from "./hunk-caret.ts";
import type { Review } from "./review.ts";
import type { ReviewedText } from "./reviewed-text.ts";

/** Scheme of the documents of cells. */
export const CELL_SCHEME = "vscode-notebook-cell";

/** A hunk with the lines of the document that shows it, and the hunk of the file that is kept or undone. */
export type ShownHunk = { readonly hunk: Hunk; readonly file: vscode.Uri; readonly decided: Hunk };

/** A line of a cell's text, and the line of the file that has it. */
type CellLine = { readonly text: string; readonly at: number };

/** `start` and `end` are the first and last line of the cell in the file. */
type Cell = { readonly id: unknown; readonly lines: readonly CellLine[]; readonly start: number; readonly end: number };

type Cells = { readonly old: readonly Cell[]; readonly fresh: readonly Cell[] };

const cellsOf = new WeakMap<ReviewedText, Cells>();

/** Hunks to show in a document: those of its file, or those of a notebook in one of its cells. */
export function shownHunks(review: Review, document: vscode.TextDocument): readonly ShownHunk[] {
  const { uri } = document;
  if (uri.scheme !== CELL_SCHEME) return review.hunks(uri).map((hunk) => ({ hunk, file: uri, decided: hunk }));
  const file = vscode.Uri.file(uri.fsPath);
  const reviewed = review.find(file);
  const index = openNotebook(file)
    ?.getCells()
    .findIndex((cell) => cell.document === document);
  if (reviewed === undefined || index === undefined) return [];
  const { old, fresh } = cellsIn(reviewed);
  const cell = fresh[index];
  if (cell === undefined) return [];
  const typed = hunksBetween(cell.lines.map(({ text }) => text).join(""), document.getText());
  return reviewed.hunks.flatMap((decided) => {
    const hunk = hunkInCell(decided, cell, { old, fresh });
    const shown = hunk && movedBy(typed, hunk);
    return shown === undefined ? [] : [{ hunk: shown, file, decided }];
  });
}

/** A place of the caret in a cell as a place in the notebook's file; any other place is returned as it is. */
export function fromCell(review: Review, { uri, line }: CaretPlace): CaretPlace {
  const file = vscode.Uri.file(uri.fsPath);
  const reviewed = uri.scheme === CELL_SCHEME ? review.find(file) : undefined;
  const index = openNotebook(file)
    ?.getCells()
    .findIndex(({ document }) => document.uri.toString() === uri.toString());
  if (reviewed === undefined || index === undefined) return { uri, line };
  const cell = cellsIn(reviewed).fresh[index];
  return { uri: file, line: cell?.lines[line]?.at ?? cell?.start ?? 0 };
}

/** Puts the caret into the cell with the hunk that begins at a line of the file; by default with the keyboard focus. */
export async function showInCell(review: Review, { uri, line }: CaretPlace, preserveFocus = false): Promise<void> {
  const notebook = openNotebook(uri);
  const reviewed = review.find(uri);
  const decided = reviewed?.hunks.find(({ newStart }) => newStart === line);
  if (notebook === undefined || reviewed === undefined || decided === undefined) return;
  const cells = cellsIn(reviewed);
  const [cell] = touchedBy(decided, cells.fresh);
  const index = Math.min(cell === undefined ? 0 : cells.fresh.indexOf(cell), notebook.cellCount - 1);
  const selection = new vscode.NotebookRange(index, index + 1);
  const editor = await vscode.window.showNotebookDocument(notebook, { preserveFocus, selections: [selection] });
  editor.revealRange(selection, vscode.NotebookEditorRevealType.InCenterIfOutsideViewport);
  if (preserveFocus || cell === undefined) return;
  await vscode.commands.executeCommand("notebook.cell.edit");
  const text = vscode.window.visibleTextEditors.find(({ document }) => document === notebook.cellAt(index).document);
  const at = new vscode.Position(hunkInCell(decided, cell, cells)?.newStart ?? 0, 0);
  if (text !== undefined) text.selection = new vscode.Selection(at, at);
}

/** The notebook of a file, if an editor shows it. */
export function openNotebook({ fsPath }: vscode.Uri): vscode.NotebookDocument | undefined {
  return vscode.workspace.notebookDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === fsPath);
}

/** The part of a hunk that is text of this cell. Outputs and metadata have no lines. */
function hunkInCell(decided: Hunk, cell: Cell, { old, fresh }: Cells): Hunk | undefined {
  const touched = touchedBy(decided, fresh);
  const index = touched.indexOf(cell);
  if (index < 0) return undefined;
  const { oldStart, oldLines, newStart, newLines } = decided;
  const isNew = ({ at }: CellLine): boolean => at >= newStart && at < newStart + newLines.length;
  const isOld = ({ at }: CellLine): boolean => at >= oldStart && at < oldStart + oldLines.length;
  const gone = old.filter(({ lines }) => lines.some(isOld));
  const pair = gone.find(({ id }) => id !== undefined && id === cell.id) ?? gone[index];
  // Cells that were removed have no document: the last cell beside them shows their text.
  const rest = index === touched.length - 1 ? gone.slice(touched.length) : [];
  return {
    oldStart: 0,
    oldLines: [pair, ...rest].flatMap((each) => each?.lines.filter(isOld) ?? []).map(({ text }) => text),
    newStart: cell.lines.findLastIndex(({ at }) => at < newStart) + 1,
    newLines: cell.lines.filter(isNew).map(({ text }) => text),
  };
}

/** Cells with new text of a hunk; the cell at its place, when it only removes text or changes something else. */
function touchedBy({ newStart, newLines }: Hunk, cells: readonly Cell[]): readonly Cell[] {
  const end = newStart + newLines.length;
  const touched = cells.filter(({ lines }) => lines.some(({ at }) => at >= newStart && at < end));
  const next = cells.find((cell) => cell.end >= newStart) ?? cells.at(-1);
  return touched.length > 0 || next === undefined ? touched : [next];
}

/** A hunk after changes of the user, which the file does not have yet; undefined when they touch its lines. */
function movedBy(typed: readonly Hunk[], hunk: Hunk): Hunk | undefined {
  const end = hunk.newStart + hunk.newLines.length;
  const before = typed.filter(({ oldStart, oldLines }) => oldStart + oldLines.length <= hunk.newStart);
  if (typed.some((change) => !before.includes(change) && change.oldStart < end)) return undefined;
  const shift = before.reduce((sum, { oldLines, newLines }) => sum + newLines.length - oldLines.length, 0);
  return { ...hunk, newStart: hunk.newStart + shift };
}

function cellsIn(reviewed: ReviewedText): Cells {
  const known = cellsOf.get(reviewed);
  if (known !== undefined) return known;
  const cells = { old: parseCells(reviewed.baseline ?? ""), fresh: parseCells(reviewed.present) };
  cellsOf.set(reviewed, cells);
  return cells;
}

/** None in a text that is no notebook. */
function parseCells(json: string): readonly Cell[] {
  const root = parseTree(json);
  const cells = root === undefined ? undefined : findNodeAtLocation(root, ["cells"]);
  const lineAt = lineCounter(json);
  return (cells?.children ?? []).map((cell) => {
    const start = lineAt(cell.offset);
    const source = findNodeAtLocation(cell, ["source"]);
    const lines = (source?.children ?? (source === undefined ? [] : [source])).flatMap(({ value, offset }) => {
      const at = lineAt(offset);
      return splitLines(String(value)).map((text) => ({ text, at }));
    });
    return { id: findNodeAtLocation(cell, ["id"])?.value, lines, start, end: lineAt(cell.offset + cell.length) };
  });
}

/** Gives the line of an offset, from 0; each offset must be larger than the one before. */
function lineCounter(text: string): (offset: number) => number {
  let [line, end] = [0, text.indexOf("\n")];
  return (offset) => {
    while (end >= 0 && end < offset) {
      line += 1;
      end = text.indexOf("\n", end + 1);
    }
    return line;
  };
}
