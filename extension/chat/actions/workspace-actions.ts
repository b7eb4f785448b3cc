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
import { closeSetup, openSetup } from "../../models/first-run.ts";
import { withErrorMessage } from "../../notifications.ts";
import type { Services } from "../../services.ts";
import type { PanelActions, PanelRequest } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";
import { actOnExtension, openExtension, openPlace, refreshExtensions } from "../session-extensions.ts";

/** Searches of the settings editor. */
const SETTINGS = { hermes: "@ext:hermes-agent.hermes-vscode", network: "http.proxy" } as const;

export function workspaceActions(services: Services, panel: ChatPanel) {
  return {
    ...reviewActions(services, panel),
    ...editorActions(services, panel),
    ...processActions(panel),
    ...extensionActions(services, panel),
    ...learntActions(services),
    ...modelActions(services, panel),
  };
}

function reviewActions({ review, opener }: Services, panel: ChatPanel) {
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
      for (const document of review.documentsOf(path)) review.keep(document);
    },
    "undo-file": async ({ path }) => {
      for (const document of review.documentsOf(path)) await review.undo(document);
    },
    "keep-all": () => review.keepAll(),
    "undo-all": () => vscode.commands.executeCommand("hermes.undoAll"),
    "redo-undone": () => withErrorMessage(vscode.l10n.t("Not every edit could be redone"), () => review.redo()),
  } satisfies Partial<PanelActions>;
}

function editorActions({ terminals, log }: Services, panel: ChatPanel) {
  return {
    "open-location": ({ type: _, path, ...place }) => showFile(uriIn(panel.shown, path), place),
    "show-terminal": ({ terminalId }) => terminals.show(terminalId),
    "open-link": ({ href }) => openLink(href, panel.shown.worktree.folder),
    "check-paths": async ({ paths }) =>
      panel.post({
        type: "paths-checked",
        asked: paths,
        existing: await existingLinks(paths, panel.shown.worktree.folder),
      }),
    "open-picture": ({ mimeType, data }) => openPicture(`data:${mimeType};base64,${data}`),
    "open-settings": ({ about }) => openSettings(SETTINGS[about]),
    "open-log": () => log.show(true),
    "open-folder": ({ recent }) =>
      vscode.commands.executeCommand(recent ? "workbench.action.openRecent" : "vscode.openFolder"),
    "new-worktree": () => vscode.commands.executeCommand("hermes.newWorktree"),
    "manage-worktree": () => vscode.commands.executeCommand("hermes.manageWorktrees", panel.shown.worktree.folder),
    "manage-trust": () => vscode.commands.executeCommand("workbench.trust.manage"),
  } satisfies Partial<PanelActions>;
}

function processActions(panel: ChatPanel) {
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
  } satisfies Partial<PanelActions>;
}

function extensionActions(services: Services, panel: ChatPanel) {
  return {
    "extensions-list": () =>
      withErrorMessage(vscode.l10n.t("The extensions cannot be listed"), () => refreshExtensions(services, panel)),
    "extension-act": ({ type: _, ...act }) => actOnExtension(services, panel, act),
    "extension-open": ({ id }) =>
      withErrorMessage(vscode.l10n.t("The file cannot be opened"), () => openExtension(services, panel, id)),
    "add-server": () => vscode.commands.executeCommand("hermes.addServer"),
    "extension-place": ({ place }) =>
      withErrorMessage(vscode.l10n.t("The file cannot be opened"), () => openPlace(services, panel, place)),
  } satisfies Partial<PanelActions>;
}

function learntActions({ learning }: Services) {
  return {
    "learnt-open": () => learning.show("learnt"),
    "learnt-undo": () => learning.undoNewest(),
    "learnt-dismiss": () => learning.dismiss(),
  };
}

function modelActions(services: Services, panel: ChatPanel) {
  return {
    "use-model": async ({ choice }) => {
      await panel.shown.setConfig("model", choice);
      await closeSetup(services);
    },
    "choose-model": ({ again }) => sendAfter(panel, again, () => chooseModel(services)),
    "set-key": ({ type: _, again, ...wanted }) => sendAfter(panel, again, () => enterKey(services, wanted)),
    "open-setup": () => openSetup(services),
  } satisfies Partial<PanelActions>;
}

/**
 * Sends a message of the session once its cause of failure is gone; `step` resolves to false when the user cancels. VS Code
 * gives the focus to the editor after a box of its own: it returns to the message.
 */
async function sendAfter(panel: ChatPanel, message: Again, step: () => Promise<boolean>): Promise<void> {
  const { shown: session } = panel;
  const isDone = await step();
  await panel.reveal();
  panel.command({ kind: "compose" });
  if (!isDone || message === undefined) return;
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
async function openLink(href: string, own: string | undefined): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  await openFileLink(decodeURI(href), own);
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
