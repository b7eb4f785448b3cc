/** Commands about sessions and the chat panel. */
import * as vscode from "vscode";
import type { PanelCommand } from "../../agent-core/protocol/panel-events.ts";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import { exportSession } from "../chat/export-session.ts";
import type { Services } from "../services.ts";
import type { CommandTable } from "./command.ts";
import { importSessions } from "./import-sessions.ts";
import { manageGrants } from "./manage-grants.ts";

export const sessionCommands: CommandTable = {
  "hermes.newSession": (services) => showPanel(services, { kind: "new-session" }),
  "hermes.showHistory": (services) => showPanel(services, { kind: "show-sessions" }),
  "hermes.focusChat": (services) => showPanel(services, { kind: "compose" }),
  "hermes.askSelection": askSelection,
  "hermes.resumeSession": resumeSession,
  "hermes.exportSession": ({ sessions, worker }) => {
    const { sessionId } = sessions.shown;
    if (sessionId !== undefined) return exportSession(worker, sessionId);
    return vscode.window.showInformationMessage("Hermes: there is no session to export yet.");
  },
  "hermes.importSessions": importSessions,
  "hermes.manageGrants": manageGrants,
  "hermes.stop": ({ sessions }) => sessions.shown.dispatch({ type: "cancel" }),
};

async function showPanel({ panel }: Services, command: PanelCommand): Promise<void> {
  await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
  panel.command(command);
}

async function askSelection(services: Services): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { document, selection } = editor;
  const path = vscode.workspace.asRelativePath(document.uri);
  const lines = `${selection.start.line + 1}-${selection.end.line + 1}`;
  const code = document.getText(selection);
  const text = `About ${path}:${lines}\n\`\`\`${document.languageId}\n${code}\n\`\`\`\n`;
  await showPanel(services, { kind: "compose", text });
}

async function resumeSession(services: Services): Promise<void> {
  const items = services.history.recent().then((sessions) =>
    sessions.map(({ sessionId, title, updatedAt, isCurrent, messages }) => {
      const facts = [
        new Date(updatedAt).toLocaleString(),
        messages === undefined ? undefined : `${messages} messages`,
        isCurrent ? "in the panel" : undefined,
      ];
      return { sessionId, label: title, description: facts.filter((fact) => fact !== undefined).join(" · ") };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Resume Session",
    placeHolder: "Sessions of this folder, most recent first",
    matchOnDescription: true,
  });
  if (chosen !== undefined) await showPanel(services, { kind: "open-session", sessionId: chosen.sessionId });
}
