import * as vscode from "vscode";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.askSelection",
  async run({ panel }) {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) return;
    const { document, selection } = editor;
    const path = vscode.workspace.asRelativePath(document.uri);
    const lines = `${selection.start.line + 1}-${selection.end.line + 1}`;
    const code = document.getText(selection);
    const text = `About ${path}:${lines}\n\`\`\`${document.languageId}\n${code}\n\`\`\`\n`;
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    panel.command({ kind: "compose", text });
  },
};
