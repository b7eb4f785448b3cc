/** Commands about the code in the active editor. */
import * as vscode from "vscode";
import type { Services } from "../services.ts";
import { showPanel } from "./show-panel.ts";

export async function askSelection(services: Services): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { document, selection } = editor;
  const path = vscode.workspace.asRelativePath(document.uri);
  const lines = `${selection.start.line + 1}-${selection.end.line + 1}`;
  const code = document.getText(selection);
  const text = `About ${path}:${lines}\n\`\`\`${document.languageId}\n${code}\n\`\`\`\n`;
  await showPanel(services, { kind: "compose", text });
}
