/** Opens a place in a file, as a preview. */
import * as vscode from "vscode";

/** `line` is 1-based; the first when absent. Rejects when the file cannot be opened. */
export async function openLocation(path: string, line: number | undefined): Promise<void> {
  const at = new vscode.Position((line ?? 1) - 1, 0);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  await vscode.window.showTextDocument(document, { preview: true, selection: new vscode.Range(at, at) });
}
