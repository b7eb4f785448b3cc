/** A plan as a document: the user edits it, and the session that made it carries out the edited text. */
import * as vscode from "vscode";
import type { ChatSession } from "../chat/chat-session.ts";
import { textTabs } from "../documents/read-text.ts";
import { showInformation } from "../notifications.ts";
import type { Services } from "../services.ts";

/** The session that made a plan, and the text before the user changed it. */
type Plan = { readonly sessionId: string; readonly content: string };

/** Open plans, by the paths of their documents. VS Code keeps unsaved documents over a reload, and so does this. */
let plans: Readonly<Record<string, Plan>> = {};
let memory: vscode.Memento | undefined;
const MEMORY_KEY = "hermes.plans";

/** Takes over the plans of the window before its reload whose tabs are still there: a new document may get a path again. */
export function keepPlans(ofWorkspace: vscode.Memento): vscode.Disposable {
  memory = ofWorkspace;
  const open = new Set(textTabs().map(({ uri }) => uri.path));
  const stored = Object.entries(memory.get<typeof plans>(MEMORY_KEY, {}));
  void setPlans(
    Object.fromEntries(stored.filter(([path]) => open.has(path) || vscode.window.tabGroups.all.length === 0)),
  );
  return vscode.workspace.onDidCloseTextDocument(({ uri, isClosed }) => {
    const { [uri.path]: closed, ...others } = plans;
    if (closed !== undefined && isClosed) void setPlans(others); // a new language leaves it open
  });
}

async function setPlans(now: typeof plans): Promise<void> {
  plans = now;
  await memory?.update(MEMORY_KEY, now);
  // The button in the editor's title is there for these documents.
  await vscode.commands.executeCommand("setContext", "hermes.planPaths", Object.keys(now));
}

export async function openPlan(content: string, { sessionId = "" }: Pick<ChatSession, "sessionId">): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await setPlans({ ...plans, [document.uri.path]: { sessionId, content } });
  await vscode.window.showTextDocument(document, { preview: false });
}

/** The command to carry out a plan, with its text where the user has changed it in a document, the active one first. */
export function withEdited(plan: string, command: string, { sessionId }: Pick<ChatSession, "sessionId">): string {
  const edited = [vscode.window.activeTextEditor?.document, ...vscode.workspace.textDocuments].find((document) => {
    const known = document && plans[document.uri.path];
    return known?.sessionId === sessionId && known?.content === plan && document?.getText() !== plan;
  });
  return edited === undefined ? command : `${command}\n${edited.getText()}`;
}

/** Carries out the plan in the active editor. */
export async function carryOutPlan({ sessions, panels }: Pick<Services, "sessions" | "panels">): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const plan = document && plans[document.uri.path];
  if (document === undefined || plan === undefined) {
    await showInformation(vscode.l10n.t("Hermes: open a plan first, with Edit the Plan in the chat."));
    return;
  }
  const session = sessions.withoutPanel(plan.sessionId);
  // VS Code restores a document without its text where it could not back that up before the reload.
  session.prompt({ text: `/carry-out code\n${document.getText().trim() || plan.content}` });
  if (panels.showing(session) === undefined) sessions.show(panels.sideBar, session);
  await vscode.commands.executeCommand("hermes.focusChat");
}
