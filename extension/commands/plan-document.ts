/** A plan as a document: the user edits it, and the session that made it carries out the edited text. */
import * as vscode from "vscode";
import type { ChatSession } from "../chat/chat-session.ts";
import { showInformation } from "../notifications.ts";

/** Sessions of the open plans. */
const sessions = new WeakMap<vscode.TextDocument, ChatSession>();
const paths = new Set<string>();

export async function openPlan(content: string, session: ChatSession): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  sessions.set(document, session);
  paths.add(document.uri.path);
  // The button in the editor's title is there for these documents.
  await vscode.commands.executeCommand("setContext", "hermes.planPaths", [...paths]);
  await vscode.window.showTextDocument(document, { preview: false });
}

/** Carries out the plan in the active editor. Each line of the user counts, so the whole text is sent. */
export async function carryOutPlan(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const session = document && sessions.get(document);
  if (session === undefined) {
    await showInformation(vscode.l10n.t("Hermes: open a plan first, with Edit the Plan in the chat."));
    return;
  }
  session.prompt({ text: `/carry-out code\n${document?.getText() ?? ""}` });
  await vscode.commands.executeCommand("hermes.focusChat");
}
