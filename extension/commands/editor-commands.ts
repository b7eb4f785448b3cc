/** Editor actions: each sends a prompt with the code to the session that the panel shows. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { showInformation } from "../notifications.ts";
import { hunkAt } from "../review/hunk-keys.ts";
import type { Services } from "../services.ts";
import { documentPrompt, explainHunkPrompt, explainPrompt, reviewPrompt, testsPrompt } from "./action-prompts.ts";
import { baseName, codeAt } from "./code-at-cursor.ts";
import { showPanel } from "./show-panel.ts";

/** Display time of a message in the status bar. Milliseconds. */
const STATUS_MS = 5_000;

/** Longest diff of a hunk in a request. Characters. */
const MAX_DIFF_CHARS = 20_000;

export const explainCode = (services: Services): Promise<void> => askAboutCode(services, explainPrompt);

export const writeTests = (services: Services): Promise<void> => askAboutCode(services, testsPrompt);

export const documentCode = (services: Services): Promise<void> => askAboutCode(services, documentPrompt);

export const reviewChanges = (services: Services): Promise<void> =>
  ask(services, reviewPrompt, [{ kind: "changes", label: vscode.l10n.t("Changes") }]);

/** Asks about the hunk in `args` or at the caret. */
export async function explainHunk(services: Services, ...args: readonly unknown[]): Promise<void> {
  const place = hunkAt(services.review, services.opener.caret, args);
  if (place === undefined) {
    await showInformation(vscode.l10n.t("Hermes: put the cursor on an edit of Hermes first."));
    return;
  }
  const { uri, hunk } = place;
  const label = `${baseName(uri)}:${hunk.newStart + 1}`;
  const signed = (sign: string, lines: readonly string[]): string => lines.map((line) => sign + line).join("");
  const text = `${signed("-", hunk.oldLines)}${signed("+", hunk.newLines)}`.slice(0, MAX_DIFF_CHARS);
  await ask(services, explainHunkPrompt(label), [{ kind: "text", label, text }]);
}

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
