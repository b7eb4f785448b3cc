/** What each message of the panel does. Files are only opened when they are the agent's or the workspace's to show. */
import * as vscode from "vscode";
import type { PanelMessage } from "../../webview/panel-protocol.ts";
import { chooseModel } from "../models/choose-model.ts";
import { enterKey } from "../models/enter-key.ts";
import type { Services } from "../services.ts";
import type { ChatSession } from "./chat-session.ts";
import { actOnQueue } from "./queue-actions.ts";

export async function actOnPanelMessage(message: PanelMessage, services: Services): Promise<void> {
  const { chat, requests, review, opener, terminals } = services;
  switch (message.type) {
    case "ready":
      services.events.push({ kind: "review", files: review.files });
      chat.queue.releaseAll();
      return chat.open();
    case "ack":
      return;
    case "prompt":
      return say(message, chat);
    case "cancel":
      return chat.cancel();
    case "new-session":
      return chat.newSession();
    case "set-config":
      return chat.setConfig(message.configId, message.value);
    case "use-model":
      await chat.setConfig("model", message.choice);
      return services.firstRun.close();
    case "choose-model":
      return chooseModel(services);
    case "set-key":
      return enterKey(services, message.provider);
    case "open-setup":
      return services.firstRun.open();
    case "close-setup":
      return services.firstRun.close();
    case "permission": {
      const { requestId, optionId, reason } = message;
      return requests.answer(requestId, { kind: "option", optionId, ...(reason !== undefined && { reason }) });
    }
    case "answer":
      return requests.answer(message.requestId, { kind: "text", text: message.text });
    case "queue-remove":
    case "queue-hold":
    case "queue-edit":
    case "queue-move":
    case "queue-send":
    case "queue-interrupt":
      return actOnQueue(message, chat);
    case "open-location":
      return openLocation(message.path, message.line);
    case "open-review": {
      const [document] = review.documentsOf(message.path);
      return document === undefined ? openLocation(message.path, undefined) : opener.openDiff(document, false);
    }
    case "show-terminal":
      return terminals.show(message.terminalId);
    case "keep-file":
      for (const document of review.documentsOf(message.path)) review.keepFile(document);
      return;
    case "undo-file":
      for (const document of review.documentsOf(message.path)) await review.undoFile(document);
      return;
    case "keep-all":
      return review.keepAll();
    case "undo-all":
      return review.undoAll();
    case "open-link":
      return openLink(message.href);
    case "insert-text":
      return insertText(message.text);
  }
}

async function say({ text, now }: Extract<PanelMessage, { type: "prompt" }>, chat: ChatSession): Promise<void> {
  if (text.trim() === "") return;
  await (now ? chat.promptNow(text) : chat.prompt(text));
}

async function openLocation(path: string, line: number | undefined): Promise<void> {
  const at = new vscode.Position((line ?? 1) - 1, 0);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  await vscode.window.showTextDocument(document, { preview: true, selection: new vscode.Range(at, at) });
}

/** Web and mail links go to VS Code's own confirmation; anything else is a file of the workspace, or nothing. */
async function openLink(href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined || /^[a-z][a-z0-9+.-]*:/i.test(href)) return;
  const [, path = "", line] = /^(.*?)(?:#L?(\d+)|:(\d+))?$/.exec(decodeURI(href)) ?? [];
  const target = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
  if (vscode.workspace.getWorkspaceFolder(target) === undefined) return;
  await openLocation(target.fsPath, line === undefined ? undefined : Number(line));
}

async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    vscode.window.setStatusBarMessage("Hermes: open a file to insert into", 3_000);
    return;
  }
  await editor.insertSnippet(new vscode.SnippetString().appendText(text));
}
