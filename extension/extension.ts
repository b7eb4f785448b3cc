/** Registers the view and the commands. The first use of one builds everything else, so activation is cheap. */
import * as vscode from "vscode";
import { startForJobs } from "./agent/job-notices.ts";
import { AgentsView } from "./chat/agents-view.ts";
import type { ChatView } from "./chat/chat-view.ts";
import { commands } from "./commands/commands.ts";
import { registerQuickFixes } from "./commands/fix-problem.ts";
import { openUris } from "./commands/open-uri.ts";
import { keepPlans } from "./commands/plan-document.ts";
import { CHAT_VIEW, LEARNING_TAB, SESSION_TAB, showPanel } from "./commands/show-panel.ts";
import { registerParticipant, registerReadTools } from "./editor-chat/participant.ts";
import { showWarning } from "./notifications.ts";
import type { Services } from "./services.ts";
import { StatusItem } from "./status-item.ts";

let built: Promise<Extension> | undefined;

type Extension = { readonly services: Services; readonly view: ChatView };

export function activate(context: vscode.ExtensionContext): void {
  const status = new StatusItem(context.globalState);
  const extension = (): Promise<Extension> => {
    built ??= build(context, status);
    return built;
  };
  context.subscriptions.push(
    status,
    new AgentsView(async () => (await extension()).services),
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, {
      resolveWebviewView: async (view) => (await extension()).view.resolveWebviewView(view),
    }),
    vscode.window.registerUriHandler(
      openUris(
        async (command) => showPanel((await extension()).services, command),
        (text) => showWarning(text),
      ),
    ),
    registerQuickFixes(),
    keepPlans(context.workspaceState),
    startForJobs(async () => (await extension()).services.worker.agent()),
    registerParticipant(
      async () => (await extension()).services.sessions,
      vscode.Uri.joinPath(context.extensionUri, "media", "hermes.svg"),
    ),
    ...registerReadTools({ agent: async () => (await extension()).services.worker.agent() }),
    vscode.window.registerWebviewPanelSerializer(SESSION_TAB, {
      deserializeWebviewPanel: async (panel, state) =>
        (await extension()).services.tabs.deserializeWebviewPanel(panel, state),
    }),
    vscode.window.registerWebviewPanelSerializer(LEARNING_TAB, {
      deserializeWebviewPanel: async (panel) => (await extension()).services.learning.deserializeWebviewPanel(panel),
    }),
    ...Object.entries(commands).map(([id, run]) =>
      vscode.commands.registerCommand(id, async (...args: unknown[]) => run((await extension()).services, ...args)),
    ),
  );
}

/** Ends the agent and all running commands here, because VS Code waits for `deactivate` but not for disposables. */
export async function deactivate(): Promise<void> {
  const { services } = (await built) ?? {};
  services?.sessions.freeze();
  await services?.worker.end(); // first, so that the results of its calls say why they end
  await services?.terminals.endAll();
}

async function build(context: vscode.ExtensionContext, status: StatusItem): Promise<Extension> {
  const { buildServices } = await import("./build-services.ts");
  return buildServices(context, status);
}
