import * as vscode from "vscode";

/**
 * Opens the settings editor with a search, on the tab whose values count. In a remote window, settings of the scope `machine`
 * stand on the tab of that machine only, and the tab of the user hides them.
 */
export async function openSettings(query: string): Promise<void> {
  const tab = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  await vscode.commands.executeCommand(`workbench.action.${tab}`, { query });
}
