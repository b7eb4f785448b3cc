import * as vscode from "vscode";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.setUpModel",
  async run({ sessions, firstRun }) {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    await sessions.shown.open();
    await firstRun.open();
  },
};
