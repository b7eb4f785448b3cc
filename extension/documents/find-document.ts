/** Open documents by path. */
import * as vscode from "vscode";

/** The open document of a file, or the untitled one that will be saved there. */
export function findDocument(path: string): vscode.TextDocument | undefined {
  const { fsPath } = vscode.Uri.file(path);
  return vscode.workspace.textDocuments.find(
    ({ uri }) => uri.fsPath === fsPath && (uri.scheme === "file" || uri.scheme === "untitled"),
  );
}
