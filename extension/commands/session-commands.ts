/** Commands about sessions. */
import * as vscode from "vscode";
import { exportSession } from "../chat/export-session.ts";
import type { Services } from "../services.ts";
import { showPanel } from "./show-panel.ts";

export function showNewSession(services: Services): Promise<void> {
  const { sideBar } = services.panels;
  services.sessions.showNew(sideBar); // at once: a message that the user sends now belongs to it
  return showPanel(services, { kind: "new-session" }, sideBar);
}

export async function exportShownSession({ sessions, worker }: Services): Promise<void> {
  const { sessionId } = sessions.shown;
  if (sessionId !== undefined) return exportSession(worker, sessionId);
  await vscode.window.showInformationMessage(vscode.l10n.t("Hermes: there is no session to export yet."));
}

function countText(messages: number): string {
  return messages === 1 ? vscode.l10n.t("1 message") : vscode.l10n.t("{0} messages", messages);
}

export async function resumeSession(services: Services): Promise<void> {
  const items = services.history.recent().then((sessions) =>
    sessions.map(({ sessionId, title, updatedAt, isCurrent, messages }) => {
      const facts = [
        new Date(updatedAt).toLocaleString(vscode.env.language),
        messages === undefined ? undefined : countText(messages),
        isCurrent ? vscode.l10n.t("in the panel") : undefined,
      ];
      return { sessionId, label: title, description: facts.filter((fact) => fact !== undefined).join(" · ") };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t("Resume Session"),
    placeHolder: vscode.l10n.t("Sessions of this folder, most recent first"),
    matchOnDescription: true,
  });
  if (chosen === undefined) return;
  const command = { kind: "open-session", sessionId: chosen.sessionId } as const;
  await showPanel(services, command, services.panels.sideBar);
}
