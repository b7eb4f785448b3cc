/** Extensions of a panel's session, for its page: their list, actions on them, and their files. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import {
  extensionMethods,
  type HermesExtensionAct,
  type HermesExtensions,
} from "../../agent-core/protocol/extensions.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { ExtensionPlace } from "../../agent-core/protocol/panel-messages.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatPanel, Panels } from "./panels.ts";

/** First text of a file that does not exist yet. */
const TEMPLATES: Partial<Record<ExtensionPlace, string>> = {
  config: "mcp_servers: {}\nhooks: {}\n",
  workspaceServers: '{\n  "mcpServers": {}\n}\n',
};

type Parts = { readonly worker: AgentWorker; readonly panels: Panels };

/** Sends the list to the panels. */
export async function refreshExtensions({ worker, panels }: Parts, panel: ChatPanel): Promise<void> {
  const sessionId = await openSessionId(panel);
  if (sessionId !== undefined) panels.setExtensions({ sessionId, items: (await list(worker, sessionId)).items });
}

/** The panel shows the outcome at the item. */
export async function actOnExtension({ worker }: Parts, panel: ChatPanel, act: Omit<HermesExtensionAct, "sessionId">) {
  const { id } = act;
  const acted = (message: string, isError: boolean): void =>
    panel.post({ type: "extension-acted", acted: { id, message, isError } });
  try {
    await panel.shown.open();
    const asked = { sessionId: panel.openSessionId, ...act };
    acted((await call(await worker.agent(), extensionMethods.act, asked)).message, false);
  } catch (error) {
    acted(messageOf(error), true);
  }
}

/** Opens the file or shows the folder that defines the item. */
export async function openExtension({ panels }: Parts, panel: ChatPanel, id: string): Promise<void> {
  const sessionId = await openSessionId(panel);
  const known = panels.facts.extensions.find((entry) => entry.sessionId === sessionId);
  const path = known?.items.find((item) => item.id === id)?.path;
  if (path !== undefined) await openPath(vscode.Uri.file(path));
}

/** Opens the file, with a first text where there is none, or shows the folder, which it makes. */
export async function openPlace({ worker }: Parts, panel: ChatPanel, place: ExtensionPlace): Promise<void> {
  const uri = vscode.Uri.file(await pathOf(worker, panel, place));
  const template = TEMPLATES[place];
  if (template === undefined) await vscode.workspace.fs.createDirectory(uri);
  await openPath(uri, template);
}

async function pathOf(worker: AgentWorker, panel: ChatPanel, place: ExtensionPlace): Promise<string> {
  if (place !== "workspaceServers") return (await call(await worker.agent(), extensionMethods.places, {}))[place];
  await panel.shown.open();
  return (await list(worker, panel.openSessionId)).places[place];
}

async function list(worker: AgentWorker, sessionId: string): Promise<HermesExtensions> {
  return call(await worker.agent(), extensionMethods.list, { sessionId });
}

async function openSessionId({ shown }: ChatPanel): Promise<string | undefined> {
  await shown.open();
  return shown.sessionId;
}

async function stat(uri: vscode.Uri): Promise<vscode.FileStat | undefined> {
  return vscode.workspace.fs.stat(uri).then(undefined, () => undefined);
}

/** A file that is stored here when the user saves it. */
async function openNew(uri: vscode.Uri, text: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri.with({ scheme: "untitled" }));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  if (document.getText() === "") await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), text));
}

/**
 * Opens a file, a missing one with a first text, or shows a folder. Only a desktop window on this machine can show a folder;
 * others let the user choose a file of it.
 */
export async function openPath(uri: vscode.Uri, template?: string): Promise<void> {
  const type = (await stat(uri))?.type;
  if (type === undefined && template !== undefined) return openNew(uri, template);
  if (type !== vscode.FileType.Directory) {
    await vscode.window.showTextDocument(uri, { preview: true });
    return;
  }
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand("revealFileInOS", uri);
    return;
  }
  const chosen = await vscode.window.showOpenDialog({
    defaultUri: uri,
    openLabel: vscode.l10n.t("Open File"),
    title: uri.fsPath,
  });
  if (chosen?.[0] !== undefined) await vscode.window.showTextDocument(chosen[0], { preview: true });
}
