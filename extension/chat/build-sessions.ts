/** Builds the sessions of the window, with what they need of VS Code: folders, settings and the window's memory. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { worktreeMethods } from "../../agent-core/protocol/worktrees.ts";
import { EditorServers } from "../agent/editor-servers.ts";
import { attachmentTexts, isMissing, promptBlocks } from "../attachments/prompt-blocks.ts";
import type { TerminalOutputs } from "../attachments/terminal-outputs.ts";
import { showInformation } from "../notifications.ts";
import { Requests } from "../requests/requests.ts";
import type { DiskEdits } from "../review/disk-edits.ts";
import type { Services } from "../services.ts";
import { type AttentionCounter, notifyRequest, type StatusItem } from "../status-item.ts";
import type { SessionPlace } from "./chat-session.ts";
import type { Panels } from "./panels.ts";
import { Sessions } from "./sessions.ts";
import { TurnWatch } from "./turn-watch.ts";

/** Key of the window's memory for the session shown last. */
const LAST_SHOWN_KEY = "hermes.sessionId";

/** Key of the window's memory for the sessions whose turn runs. */
const RUNNING_KEY = "hermes.runningSessions";

/** Key of the window's memory for the sessions whose edits are under review. */
const EDITORS_KEY = "hermes.editors";

type SessionParts = Pick<Services, "panels" | "lastModel" | "agents" | "log" | "worker" | "findings"> & {
  readonly status: StatusItem;
  readonly diskEdits: DiskEdits;
  readonly outputs: TerminalOutputs;
};

export function buildSessions(
  context: vscode.ExtensionContext,
  { panels, status, lastModel, diskEdits, agents, log, worker, outputs, findings }: SessionParts,
): Sessions {
  const servers = new EditorServers(context.globalStorageUri.fsPath);
  const reader = { texts: attachmentTexts(worker, outputs), isMissing };
  const watch = new TurnWatch({
    log,
    now: () => performance.now(),
    notify: () => vscode.workspace.getConfiguration("hermes").get("notify", "hidden"),
    isInSight: (sessionId) => sessions.isInSight(sessionId),
    show: (sessionId, text) => {
      const answered = showInformation(text, vscode.l10n.t("Open"));
      void answered.then((chosen) => chosen !== undefined && sessions.reveal(sessionId));
    },
  });
  const sessions = new Sessions(
    {
      agentOf: (sessionId) => agents.of(sessionId),
      diskEdits,
      worktree: async (wanted, signal) =>
        call(await worker.agent(), worktreeMethods.add, wanted, { cancellationSignal: signal }),
      place: (folder) => sessionPlace(lastModel.chosen, servers, folder),
      warnings: () => servers.takeProblems(),
      observed: (session, event) => {
        watch.observe(session, event);
        findings.observe(session, event);
        if (event.type === "prompt" && panels.facts.learnt !== null) panels.setFacts({ learnt: null });
      },
      promptBlocks: (content, report) => promptBlocks(content, reader, report),
      opened: (opened) => {
        if (opened === undefined) return;
        panels.setFacts({ sandbox: opened.sandbox });
        status.sandbox(opened.sandbox);
      },
      // A choice that cannot be stored is lost with the window.
      rememberModel: (choice) => void lastModel.remember(choice).then(undefined, () => undefined),
      lastShown: storedIn<string>(context, LAST_SHOWN_KEY),
      running: storedIn<readonly string[]>(context, RUNNING_KEY),
      editors: storedIn<Readonly<Record<string, string>>>(context, EDITORS_KEY),
    },
    panels,
  );
  return sessions;
}

async function sessionPlace(
  model: string | undefined,
  servers: EditorServers,
  folder: string | undefined,
): Promise<SessionPlace> {
  const [cwd, ...additionalDirectories] = folder === undefined ? folderPaths() : [folder];
  const hermes = { trusted: vscode.workspace.isTrusted, ...(model !== undefined && { model }) };
  const isWanted = vscode.workspace.getConfiguration("hermes").get("mcp.useEditorServers", true);
  // A workspace's own value is left out: its servers need the user's consent.
  const setting = vscode.workspace.getConfiguration("mcp").inspect("servers")?.globalValue;
  const { workspaceFile, workspaceFolders: [first] = [] } = vscode.workspace;
  const workspace = String(workspaceFile ?? first?.uri ?? "");
  const mcpServers = isWanted ? await servers.read({ setting, cwd, workspace, environment: process.env }) : [];
  return { cwd, additionalDirectories, mcpServers, _meta: { hermes } };
}

/** The window's folders. Throws an Error for people without one. */
export function folderPaths(): readonly [string, ...string[]] {
  const [first, ...others] = foldersOnDisk().map(({ uri }) => uri.fsPath);
  if (first === undefined) throw new Error(vscode.l10n.t("Open a folder to start: the agent works in a folder."));
  return [first, ...others];
}

export function foldersOnDisk(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
}

/** A value in the memory of the window. One that cannot be stored is lost with the window. */
export function storedIn<Value>({ workspaceState: memory }: vscode.ExtensionContext, key: string) {
  return {
    get: () => memory.get<Value>(key),
    set: (value: Value | undefined) => void memory.update(key, value).then(undefined, () => undefined),
  };
}

/** Requests with cards in the panels, and notifications while no panel in sight shows them. */
export function buildRequests(panels: Panels, attention: AttentionCounter, sessions: () => Sessions): Requests {
  const requests = new Requests({
    show: (sessionId, event) => sessions().emit(sessionId, event),
    changed: (sessionIds) => {
      attention.set({ requests: sessionIds.length });
      sessions().setAsking(sessionIds);
    },
    // A line above the message names a session that asks; a notification would cover both.
    isInSight: () => panels.isAnyInSight,
    reveal: (sessionId) => sessions().reveal(sessionId),
    notify: notifyRequest,
  });
  panels.onDidChangeSight(() => requests.sightChanged());
  return requests;
}
