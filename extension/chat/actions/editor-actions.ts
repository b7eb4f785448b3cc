/** What of the panel is shown in the editor. Files are only opened when they are the agent's or the workspace's to show. */
import * as vscode from "vscode";
import { openLocation } from "../open-location.ts";
import type { Actions } from "./actions.ts";

export const editorActions: Actions<"open-location" | "show-terminal" | "open-link" | "insert-text" | "manage-trust"> =
  {
    "manage-trust": () => vscode.commands.executeCommand("workbench.trust.manage"),
    "open-location": ({ path, line }) => openLocation(path, line),
    "show-terminal": ({ terminalId }, { terminals }) => terminals.show(terminalId),
    "open-link": ({ href }) => openLink(href),
    "insert-text": ({ text }) => insertText(text),
  };

/** Web and mail links go to VS Code's own confirmation; anything else is a file of the workspace, or nothing. */
async function openLink(href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || /^[a-z][a-z0-9+.-]*:/i.test(href)) return;
  const [, path = "", line] = /^(.*?)(?:#L?(\d+)|:(\d+))?$/.exec(decodeURI(href)) ?? [];
  const target = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
  if (vscode.workspace.getWorkspaceFolder(target) === undefined) return;
  await openLocation(target.fsPath, line === undefined ? undefined : Number(line));
}

async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    vscode.window.setStatusBarMessage("Hermes: open a file to insert into", 3_000);
    return;
  }
  await editor.insertSnippet(new vscode.SnippetString().appendText(text));
}
