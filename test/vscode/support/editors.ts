// Actions of a user in the editors of a window.
import assert from "node:assert/strict";
import * as vscode from "vscode";

export async function openEditor(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path), { preview: false });
}

/** Puts text in at the beginning of a line (from 0). */
export async function typeAt(editor: vscode.TextEditor, line: number, text: string): Promise<void> {
  assert.ok(await editor.edit((edit) => edit.insert(new vscode.Position(line, 0), text)));
}

/** Without the question whether to save, and with no unsaved text left, in the editor in front or behind. */
export async function closeEditors(): Promise<void> {
  const unsaved = (): vscode.TextDocument | undefined =>
    vscode.workspace.textDocuments.find(({ isDirty, isClosed }) => isDirty && !isClosed);
  for (let document = unsaved(); document !== undefined; document = unsaved()) {
    await vscode.window.showTextDocument(document, { preview: false });
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  }
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}
