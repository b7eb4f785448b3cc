/** Editor actions: each sends a prompt with the code to the session that the panel shows. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { showInformation } from "../notifications.ts";
import type { Services } from "../services.ts";
import { documentPrompt, explainPrompt, reviewPrompt, testsPrompt } from "./action-prompts.ts";
import { codeAt } from "./code-at-cursor.ts";
import { showPanel } from "./show-panel.ts";

/** Display time of a message in the status bar. Milliseconds. */
const STATUS_MS = 5_000;

export const explainCode = (services: Services): Promise<void> => askAboutCode(services, explainPrompt);

export const writeTests = (services: Services): Promise<void> => askAboutCode(services, testsPrompt);

export const documentCode = (services: Services): Promise<void> => askAboutCode(services, documentPrompt);

export const reviewChanges = (services: Services): Promise<void> =>
  ask(services, reviewPrompt, [{ kind: "changes", label: vscode.l10n.t("Changes") }]);

async function askAboutCode(services: Services, promptFor: (name: string) => string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    await showInformation(vscode.l10n.t("Hermes: put the cursor into the code first."));
    return;
  }
  const { name, code } = await codeAt(editor);
  await ask(services, promptFor(name), [code]);
}

/** Starts a turn in the session that the panel shows. While another turn runs, the request waits in the queue. */
export async function ask(services: Services, text: string, attachments: readonly Attachment[]): Promise<void> {
  const { shown } = services.sessions;
  if (shown.isRunning) {
    vscode.window.setStatusBarMessage(
      `$(list-ordered) ${vscode.l10n.t("Hermes is busy: the request waits in its queue")}`,
      STATUS_MS,
    );
  }
  shown.prompt({ text, attachments });
  await showPanel(services, { kind: "compose" });
}
