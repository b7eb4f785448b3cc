/** Commands about sessions: new, resume, export and import. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesImport, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { exportSession } from "../chat/export-session.ts";
import { showInformation, withErrorMessage } from "../notifications.ts";
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
  await showInformation(vscode.l10n.t("Hermes: there is no session to export yet."));
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

type Source = vscode.QuickPickItem & { readonly isHome: boolean };

const SOURCES: readonly Source[] = [
  {
    label: vscode.l10n.t("Hermes' home"),
    description: vscode.l10n.t("state.db in HERMES_HOME, or in ~/.hermes"),
    isHome: true,
  },
  {
    label: vscode.l10n.t("Another state.db…"),
    description: vscode.l10n.t("From another home, or a copy"),
    isHome: false,
  },
];

const SHOW = vscode.l10n.t("Show Sessions");
const AGAIN = vscode.l10n.t("Import Deleted Too");

/** Imports the sessions of an original Hermes home, with progress, and offers to show them. */
export async function importSessions(services: Services): Promise<void> {
  const source = await vscode.window.showQuickPick(SOURCES, {
    title: vscode.l10n.t("Import Sessions"),
    placeHolder: vscode.l10n.t("Reads the sessions of the original Hermes Agent without changing them"),
  });
  if (source === undefined) return;
  const file = source.isHome ? undefined : await chooseFile();
  if (!source.isHome && file === undefined) return;
  await withErrorMessage(vscode.l10n.t("Nothing was imported"), () =>
    runImport(services, file === undefined ? {} : { path: file }),
  );
}

async function chooseFile(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("Import Sessions"),
    openLabel: vscode.l10n.t("Import"),
    filters: { [vscode.l10n.t("Hermes sessions")]: ["db"], [vscode.l10n.t("All files")]: ["*"] },
  });
  return chosen?.[0]?.fsPath;
}

async function runImport(services: Services, request: HermesImport): Promise<void> {
  const { worker, sessionListChanges } = services;
  const agent = await worker.agent();
  const { summary, deleted } = await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t("Hermes is importing sessions"),
      cancellable: true,
    },
    async (progress, token) => {
      const cancellation = new AbortController();
      const listeners = vscode.Disposable.from(
        token.onCancellationRequested(() => cancellation.abort()),
        sessionListChanges.onDidImport(({ done, total }) =>
          progress.report({ message: vscode.l10n.t("{0} of {1}", done, total) }),
        ),
      );
      const { signal: cancellationSignal } = cancellation;
      try {
        return await call(agent, sessionMethods.import, request, { cancellationSignal });
      } finally {
        listeners.dispose();
      }
    },
  );
  const answer = await showInformation(summary, SHOW, ...(deleted > 0 ? [AGAIN] : []));
  if (answer === AGAIN)
    await withErrorMessage(vscode.l10n.t("Nothing was imported"), () =>
      runImport(services, { ...request, again: true }),
    );
  if (answer === SHOW) await vscode.commands.executeCommand("hermes.showHistory");
}
