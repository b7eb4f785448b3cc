/**
 * Jupyter notebooks with unsaved changes: their text as VS Code would save it, and changes of this text as changes of
 * cells, which the user can undo. A notebook without unsaved changes is a plain file, which VS Code reloads.
 */
import * as vscode from "vscode";
import * as z from "zod";

/** Built into VS Code; the part of its API that Hermes uses. */
const JUPYTER = "vscode.ipynb";
type Jupyter = { exportNotebook(notebook: vscode.NotebookData): Promise<string> };

const cellSchema = z.looseObject({
  cell_type: z.enum(["code", "markdown", "raw"]),
  source: z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(""))]),
  id: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).default({}),
});
const notebookSchema = z.looseObject({ cells: z.array(cellSchema) });

type Cell = z.infer<typeof cellSchema>;

/** The open notebook of a file, if it has unsaved changes. */
export function unsavedNotebook(path: string): vscode.NotebookDocument | undefined {
  const { fsPath } = vscode.Uri.file(path);
  return vscode.workspace.notebookDocuments.find(
    ({ uri, isDirty, notebookType }) => isDirty && notebookType === "jupyter-notebook" && uri.fsPath === fsPath,
  );
}

export async function notebookText(notebook: vscode.NotebookDocument): Promise<string> {
  const jupyter = await vscode.extensions.getExtension<Jupyter>(JUPYTER)?.activate();
  if (jupyter === undefined)
    throw new Error(`VS Code's extension ${JUPYTER} is disabled, so the notebook cannot be read`);
  const cells = notebook.getCells().map((cell) => {
    const data = new vscode.NotebookCellData(cell.kind, cell.document.getText(), cell.document.languageId);
    data.metadata = cell.metadata;
    data.outputs = [...cell.outputs];
    if (cell.executionSummary !== undefined) data.executionSummary = cell.executionSummary;
    return data;
  });
  return jupyter.exportNotebook(Object.assign(new vscode.NotebookData(cells), { metadata: notebook.metadata }));
}

/** Replaces the cells that differ, without saving. Throws an Error when `text` is not a notebook, or changes no cell. */
export async function writeNotebook(notebook: vscode.NotebookDocument, text: string): Promise<string> {
  const wanted = cellsIn(text);
  const present = notebook.getCells();
  const isSame = (index: number, other: number): boolean => {
    const [cell, next] = [present.at(index), wanted.at(other)];
    return (
      cell !== undefined &&
      next !== undefined &&
      typeOf(cell) === next.cell_type &&
      cell.document.getText().replaceAll("\r\n", "\n") === next.source
    );
  };
  const shared = Math.min(present.length, wanted.length);
  let start = 0;
  while (start < shared && isSame(start, start)) start += 1;
  let end = 0;
  while (end < shared - start && isSame(-1 - end, -1 - end)) end += 1;
  const range = new vscode.NotebookRange(start, present.length - end);
  const cells = wanted.slice(start, wanted.length - end);
  if (range.isEmpty && cells.length === 0) {
    throw new Error("the notebook has unsaved changes, so only its cells can be changed. Save it first");
  }
  const language = present.find(({ kind }) => kind === vscode.NotebookCellKind.Code)?.document.languageId ?? "python";
  const change = new vscode.WorkspaceEdit();
  change.set(notebook.uri, [
    vscode.NotebookEdit.replaceCells(
      range,
      cells.map((cell) => cellData(cell, language)),
    ),
  ]);
  if (!(await vscode.workspace.applyEdit(change))) throw new Error("VS Code did not change the notebook");
  return notebookText(notebook);
}

function cellsIn(text: string): readonly Cell[] {
  try {
    return notebookSchema.parse(JSON.parse(text)).cells;
  } catch {
    throw new Error("the new text is not the JSON of a notebook");
  }
}

/** Outputs belong to the run of the old cell, so a new one has none. */
function cellData({ cell_type: type, source, id, metadata }: Cell, language: string): vscode.NotebookCellData {
  const kind = type === "code" ? vscode.NotebookCellKind.Code : vscode.NotebookCellKind.Markup;
  const languages = { code: language, markdown: "markdown", raw: "raw" };
  const data = new vscode.NotebookCellData(kind, source, languages[type]);
  data.metadata = { metadata, ...(id !== undefined && { id }) };
  return data;
}

function typeOf({ kind, document }: vscode.NotebookCell): Cell["cell_type"] {
  if (kind === vscode.NotebookCellKind.Code && document.languageId !== "raw") return "code";
  return document.languageId === "raw" ? "raw" : "markdown";
}
