import * as vscode from "vscode";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.resumeSession",
  async run({ history, panel }) {
    const items = history.recent().then((sessions) =>
      sessions.map(({ sessionId, title, updatedAt, isCurrent, messages }) => ({
        sessionId,
        label: title,
        description: [
          new Date(updatedAt).toLocaleString(),
          messages === undefined ? undefined : `${messages} messages`,
          isCurrent ? "in the panel" : undefined,
        ]
          .filter((fact) => fact !== undefined)
          .join(" · "),
      })),
    );
    const chosen = await vscode.window.showQuickPick(items, {
      title: "Resume Session",
      placeHolder: "Sessions of this folder, the last used first",
      matchOnDescription: true,
    });
    if (chosen === undefined) return;
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    panel.command({ kind: "open-session", sessionId: chosen.sessionId });
  },
};
