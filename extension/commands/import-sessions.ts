import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesImport, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { withErrorMessage } from "../chat/with-error-message.ts";
import type { Services } from "../services.ts";

type Source = vscode.QuickPickItem & { readonly isHome: boolean };

const SOURCES: readonly Source[] = [
  { label: "Hermes' home", description: "state.db in HERMES_HOME, or in ~/.hermes", isHome: true },
  { label: "Another state.db…", description: "From another home, or a copy", isHome: false },
];

const SHOW = "Show Sessions";
const AGAIN = "Import Deleted Too";

/** Imports the sessions of an original Hermes home, with progress, and offers to show them. */
export async function importSessions(services: Services): Promise<void> {
  const source = await vscode.window.showQuickPick(SOURCES, {
    title: "Import Sessions",
    placeHolder: "Reads the sessions of the original Hermes Agent without changing them",
  });
  if (source === undefined) return;
  const file = source.isHome ? undefined : await chooseFile();
  if (!source.isHome && file === undefined) return;
  await withErrorMessage("Nothing was imported", () => runImport(services, file === undefined ? {} : { path: file }));
}

async function chooseFile(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: "Import Sessions",
    openLabel: "Import",
    filters: { "Hermes sessions": ["db"], "All files": ["*"] },
  });
  return chosen?.[0]?.fsPath;
}

async function runImport(services: Services, request: HermesImport): Promise<void> {
  const { worker, sessionListChanges } = services;
  const agent = await worker.agent();
  const { summary, deleted } = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: "Hermes is importing sessions", cancellable: true },
    async (progress, token) => {
      const cancellation = new AbortController();
      const listeners = vscode.Disposable.from(
        token.onCancellationRequested(() => cancellation.abort()),
        sessionListChanges.onDidImport(({ done, total }) => progress.report({ message: `${done} of ${total}` })),
      );
      const { signal: cancellationSignal } = cancellation;
      try {
        return await call(agent, sessionMethods.import, request, { cancellationSignal });
      } finally {
        listeners.dispose();
      }
    },
  );
  const answer = await vscode.window.showInformationMessage(summary, SHOW, ...(deleted > 0 ? [AGAIN] : []));
  if (answer === AGAIN)
    await withErrorMessage("Nothing was imported", () => runImport(services, { ...request, again: true }));
  if (answer === SHOW) await vscode.commands.executeCommand("hermes.showHistory");
}
