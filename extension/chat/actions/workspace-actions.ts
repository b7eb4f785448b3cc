/** Messages of the panel about the workspace: pending edits, files and links, processes, extensions, models, trust. */
import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { call } from "../../../agent-core/protocol/method.ts";
import { processMethods } from "../../../agent-core/protocol/processes.ts";
import { openSettings } from "../../commands/open-settings.ts";
import { existingLinks, openFileLink, showFile } from "../../documents/file-links.ts";
import { showRemoteChange, uriIn } from "../../documents/remote-files.ts";
import { chooseModel } from "../../models/choose-model.ts";
import { enterKey } from "../../models/enter-key.ts";
import { withErrorMessage } from "../../notifications.ts";
import type { Services } from "../../services.ts";
import type { ChatSession } from "../chat-session.ts";
import type { PanelActions, PanelRequest } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";

/** Searches of the settings editor. */
const SETTINGS = { hermes: "@ext:hermes-agent.hermes-vscode", network: "http.proxy" } as const;

type ReviewActions = PanelActions<"open-review" | "keep-file" | "undo-file" | "keep-all" | "undo-all" | "redo-undone">;
type EditorActions = PanelActions<
  | "open-location"
  | "show-terminal"
  | "open-link"
  | "check-paths"
  | "open-picture"
  | "manage-trust"
  | "open-settings"
  | "open-log"
  | "open-folder"
>;
type ProcessActions = PanelActions<"process-input" | "process-stop">;
type ExtensionActions = PanelActions<
  "extensions-list" | "extension-act" | "extension-open" | "extension-place" | "add-server"
>;
type LearntActions = PanelActions<"learnt-open" | "learnt-undo" | "learnt-dismiss">;
type ModelActions = PanelActions<"use-model" | "choose-model" | "set-key" | "open-setup">;

type WorkspaceActions = ReviewActions &
  EditorActions &
  ProcessActions &
  ExtensionActions &
  LearntActions &
  ModelActions;

export function workspaceActions(services: Services, panel: ChatPanel): WorkspaceActions {
  return {
    ...reviewActions(services, panel),
    ...editorActions(services, panel),
    ...processActions(panel),
    ...extensionActions(services, panel),
    ...learntActions(services),
    ...modelActions(services, panel),
  };
}

function reviewActions({ review, opener }: Services, panel: ChatPanel): ReviewActions {
  return {
    "open-review": ({ path: given, before }) => {
      if (panel.shown.agent.offers.remoteCwd !== undefined) {
        const uri = uriIn(panel.shown, given);
        return before === undefined ? showFile(uri, {}) : showRemoteChange(uri, before);
      }
      const path = inWorkspace(given);
      const [document] = review.documentsOf(path);
      return document === undefined ? showFile(vscode.Uri.file(path), {}) : opener.openDiff(document, false);
    },
    "keep-file": ({ path }) => {
      for (const document of review.documentsOf(path)) review.keepFile(document);
    },
    "undo-file": async ({ path }) => {
      for (const document of review.documentsOf(path)) await review.undoFile(document);
    },
    "keep-all": () => review.keepAll(),
    "undo-all": () => vscode.commands.executeCommand("hermes.undoAll"),
    "redo-undone": () => withErrorMessage(vscode.l10n.t("Not every edit could be redone"), () => review.redo()),
  };
}

function editorActions({ terminals, log }: Services, panel: ChatPanel): EditorActions {
  const { connection } = panel;
  return {
    "open-location": ({ type: _, path, ...place }) => showFile(uriIn(panel.shown, path), place),
    "show-terminal": ({ terminalId }) => terminals.show(terminalId),
    "open-link": ({ href }) => openLink(href),
    "check-paths": async ({ paths }) => connection.pathsChecked(paths, await existingLinks(paths)),
    "open-picture": ({ mimeType, data }) => openPicture(`data:${mimeType};base64,${data}`),
    "open-settings": ({ about }) => openSettings(SETTINGS[about]),
    "open-log": () => log.show(true),
    "open-folder": ({ recent }) =>
      vscode.commands.executeCommand(recent ? "workbench.action.openRecent" : "vscode.openFolder"),
    "manage-trust": () => vscode.commands.executeCommand("workbench.trust.manage"),
  };
}

function processActions(panel: ChatPanel): ProcessActions {
  return {
    "process-input": ({ id, text }) =>
      withErrorMessage(vscode.l10n.t("The process cannot take the input"), async () => {
        const input = { sessionId: panel.openSessionId, id, text };
        const { reason } = await call(await panel.shown.agent.agent(), processMethods.input, input);
        if (reason !== undefined) throw new Error(reason);
      }),
    "process-stop": ({ id }) =>
      withErrorMessage(vscode.l10n.t("The process cannot be stopped"), async () => {
        await call(await panel.shown.agent.agent(), processMethods.stop, { sessionId: panel.openSessionId, id });
      }),
  };
}

function extensionActions({ extensions }: Services, panel: ChatPanel): ExtensionActions {
  return {
    "extensions-list": () =>
      withErrorMessage(vscode.l10n.t("The extensions cannot be listed"), () => extensions.refresh(panel)),
    "extension-act": ({ type: _, ...act }) => extensions.act(panel, act),
    "extension-open": ({ id }) =>
      withErrorMessage(vscode.l10n.t("The file cannot be opened"), () => extensions.openItem(panel, id)),
    "add-server": () => vscode.commands.executeCommand("hermes.addServer"),
    "extension-place": ({ place }) =>
      withErrorMessage(vscode.l10n.t("The file cannot be opened"), () => extensions.openPlace(panel, place)),
  };
}

function learntActions({ learning }: Services): LearntActions {
  return {
    "learnt-open": () => learning.show("learnt"),
    "learnt-undo": () => learning.undoNewest(),
    "learnt-dismiss": () => learning.dismiss(),
  };
}

function modelActions(services: Services, panel: ChatPanel): ModelActions {
  const { firstRun } = services;
  return {
    "use-model": async ({ choice }) => {
      await panel.shown.setConfig("model", choice);
      await firstRun.close();
    },
    "choose-model": ({ again }) => sendAfter(panel.shown, again, () => chooseModel(services)),
    "set-key": ({ type: _, again, ...wanted }) => sendAfter(panel.shown, again, () => enterKey(services, wanted)),
    "open-setup": () => firstRun.open(),
  };
}

/** Sends a message of the session once its cause of failure is gone; `step` resolves to false when the user cancels. */
async function sendAfter(session: ChatSession, message: Again, step: () => Promise<boolean>): Promise<void> {
  if (!(await step()) || message === undefined) return;
  const { position, ...content } = message;
  if (position === undefined) session.prompt(content);
  else session.dispatch({ type: "resend", position, ...content });
}

type Again = Extract<PanelRequest, { type: "set-key" }>["again"];

/** A relative path starts at the folder of the sessions. */
function inWorkspace(path: string): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return folder === undefined || isAbsolute(path) ? path : join(folder.uri.fsPath, path);
}

/** Web and mail links go to VS Code's own confirmation. Any other link opens a file of the workspace. */
async function openLink(href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  await openFileLink(decodeURI(href));
}

/** Shows a picture in a tab of its own. The page can load nothing, and runs no script. */
function openPicture(source: string): void {
  const column = vscode.ViewColumn.Active;
  const { webview } = vscode.window.createWebviewPanel("hermes.picture", vscode.l10n.t("Picture"), column, {
    localResourceRoots: [],
  });
  webview.html = `<!DOCTYPE html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:"></head>
<body><img alt="${vscode.l10n.t("Result of the call")}" width="100%" src="${source}"></body></html>`;
}
