/** Wires the extension. What it is made of is loaded and built with its first use: activation itself costs next to nothing. */
import * as vscode from "vscode";
import type { ChatView } from "./chat/chat-view.ts";
import { CHAT_VIEW } from "./chat/chat-view-id.ts";
import { table } from "./commands/table.gen.ts";
import type { Services } from "./services.ts";

let built: Promise<Extension> | undefined;

type Extension = { readonly services: Services; readonly view: ChatView };

export function activate(context: vscode.ExtensionContext): void {
  const extension = (): Promise<Extension> => {
    built ??= build(context);
    return built;
  };
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, {
      resolveWebviewView: async (view) => (await extension()).view.resolveWebviewView(view),
    }),
    ...table.map(({ id, run }) =>
      vscode.commands.registerCommand(id, async (...args: unknown[]) => run((await extension()).services, ...args)),
    ),
  );
}

/** No command outlives the window: VS Code gives `deactivate` some seconds, and a disposable none. */
export async function deactivate(): Promise<void> {
  await (await built)?.services.terminals.endAll();
}

async function build(context: vscode.ExtensionContext): Promise<Extension> {
  const [{ buildServices }, { keepInStep }] = await Promise.all([
    import("./build-services.ts"),
    import("./models/keep-in-step.ts"),
  ]);
  const { services, view } = buildServices(context);
  context.subscriptions.push(...keepInStep(services));
  return { services, view };
}
