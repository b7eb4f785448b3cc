import * as vscode from "vscode";
import { exportSession } from "../chat/export-session.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.exportSession",
  async run({ sessions, worker }) {
    const { sessionId } = sessions.shown;
    if (sessionId === undefined) {
      vscode.window.showInformationMessage("Hermes: there is no session to export yet.");
      return;
    }
    await exportSession(worker, sessionId);
  },
};
