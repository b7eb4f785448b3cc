/** Wires the extension; nothing runs until a view is opened or a command is called. */
import * as vscode from "vscode";
import { buildServices } from "./build-services.ts";
import { CHAT_VIEW } from "./chat/chat-view.ts";
import { table } from "./commands/table.gen.ts";
import { keepInStep } from "./models/keep-in-step.ts";

/** What must be waited for at the end: VS Code gives `deactivate` some seconds, and a disposable none. */
let endCommands: (() => Promise<void>) | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const services = buildServices(context);
  endCommands = () => services.terminals.endAll();
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, services.view),
    ...table.map(({ id, run }) => vscode.commands.registerCommand(id, (...args: unknown[]) => run(services, ...args))),
    ...keepInStep(services),
    vscode.workspace.onDidGrantWorkspaceTrust(() => services.chat.newSession()),
  );
}

/** No command outlives the window. */
export async function deactivate(): Promise<void> {
  await endCommands?.();
}
