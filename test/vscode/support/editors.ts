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

/** Without the question whether to save. */
export async function closeEditors(): Promise<void> {
  while (vscode.window.activeTextEditor?.document.isDirty === true) {
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  }
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}
