import * as vscode from "vscode";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.showHistory",
  async run({ panel }) {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    panel.command({ kind: "show-sessions" });
  },
};
