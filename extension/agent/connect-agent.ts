/** Connects the extension to the agent as an ACP client: its capabilities, and its handlers of the agent's requests. */
import {
  type ClientApp,
  type ClientCapabilities,
  type ClientConnection,
  client,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { HermesClientCapabilities } from "../../agent-core/protocol/capabilities.ts";
import { cronMethods } from "../../agent-core/protocol/cron.ts";
import { problemMethods } from "../../agent-core/protocol/editor.ts";
import { editorModelMethods } from "../../agent-core/protocol/editor-models.ts";
import { extensionMethods, openUrlMethod } from "../../agent-core/protocol/extensions.ts";
import { fileMethods, type HermesOpenFiles } from "../../agent-core/protocol/files.ts";
import { onAgentNotification, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { learningMethods } from "../../agent-core/protocol/learning.ts";
import { call, notify } from "../../agent-core/protocol/method.ts";
import {
  type HermesPasswordQuestion,
  passwordMethod,
  processMethods,
  terminalMethods,
} from "../../agent-core/protocol/processes.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { allowListMethod, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { ClientServices } from "../client/client-services.ts";
import { registerFileChanges, registerFileRequests } from "../client/file-requests.ts";
import { textTabs } from "../documents/read-text.ts";
import { askEditorModel, listEditorModels } from "../models/editor-models.ts";
import { showInformation } from "../notifications.ts";
import { registerSemanticRequests } from "../semantic-tools/semantic-requests.ts";

const OURS: HermesClientCapabilities = {
  expectedText: true,
  unsavedText: true,
  fileMoves: true,
  revert: true,
  problems: true,
  palette: true,
  processes: true,
  compressions: true,
  grants: true,
  terminals: true,
  languageModels: true,
  sessionIndex: true,
  sandbox: true,
  extensions: true,
  openUrl: true,
  passwords: true,
  openFiles: true,
  semanticTools: true,
};

const CAPABILITIES: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {} },
  session: { notices: {} },
};

type Connected = { readonly connection: ClientConnection; readonly facts: InitializeResponse };

/**
 * Connects to an agent other than Hermes, which gets nothing but ACP. `isRemote`: files and terminals are those of the agent's own
 * machine. Rejects when it does not answer `initialize`.
 */
export function connectForeign(stream: Stream, services: ClientServices, isRemote: boolean): Promise<Connected> {
  const { fs: _files, terminal: _terminal, ...others } = CAPABILITIES;
  const app = standardClient(services);
  if (!isRemote) return initialize(app, stream, { ...CAPABILITIES, auth: { terminal: true } });
  // The processes of the other machine have no terminals here.
  onAgentNotification(app, processMethods.changed, ({ params }) => services.panels.setProcesses(params));
  return initialize(app, stream, { ...others, _meta: { hermes: { processes: true } } });
}

/** Rejects when the agent does not answer `initialize`. */
export async function connect(stream: Stream, services: ClientServices): Promise<ClientConnection> {
  const app = standardClient(services);
  registerFileChanges(app, services);
  registerTerminalInput(app, services);
  registerSessionFacts(app, services);
  registerEditorRequests(app, services);
  registerSemanticRequests(app);
  onAgentRequest(app, allowListMethod, ({ params }) => changeAllowList(params));
  const hermes = { ...OURS, allowList: allowList() };
  const { connection } = await initialize(app, stream, { ...CAPABILITIES, _meta: { hermes } });
  const { agent } = connection;
  const changes = [
    vscode.lm.onDidChangeChatModels(() => notify(agent, editorModelMethods.changed, {})),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (uri.scheme === "file") notify(agent, fileMethods.saved, { path: uri.fsPath });
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (!change.affectsConfiguration("hermes.commands.allow")) return;
      const sent = call(agent, settingsMethods.setAllowList, { rows: allowList() });
      sent.catch(() => undefined); // the agent ended, and the next one gets the list at its start
    }),
  ];
  void connection.closed.finally(() => {
    for (const change of changes) change.dispose();
  });
  return connection;
}

/** The user's own list. A repository cannot change it: its scope is the application. */
function allowList(): readonly string[] {
  return vscode.workspace.getConfiguration("hermes").get<readonly string[]>("commands.allow", []);
}

async function changeAllowList({ row, isIn }: { readonly row: string; readonly isIn: boolean }): Promise<void> {
  const others = allowList().filter((each) => each !== row);
  const settings = vscode.workspace.getConfiguration("hermes");
  await settings.update("commands.allow", isIn ? [...others, row] : others, vscode.ConfigurationTarget.Global);
}

/** Client of ACP alone. */
function standardClient(services: ClientServices): ClientApp {
  const app = client({ name: "hermes-vscode" });
  registerFileRequests(app, services);
  registerTerminalRequests(app, services);
  registerSessionRequests(app, services);
  return app;
}

async function initialize(app: ClientApp, stream: Stream, clientCapabilities: ClientCapabilities): Promise<Connected> {
  const connection = app.connect(stream);
  const facts = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "vscode", title: vscode.env.appName, version: vscode.version },
    clientCapabilities,
  });
  return { connection, facts };
}

/** Updates, permission requests and questions. */
function registerSessionRequests(app: ClientApp, { requests, sessionUpdate }: ClientServices): void {
  app.onNotification(methods.client.session.update, ({ params }) => sessionUpdate(params));
  app.onRequest(methods.client.session.requestPermission, async ({ params, signal }) => ({
    outcome: await requests.permission(params, signal),
  }));
  app.onRequest(methods.client.elicitation.create, ({ params, signal }) => requests.question(params, signal));
}

/** Processes, extensions and lists of sessions. */
function registerSessionFacts(
  app: ClientApp,
  { sessionLists, panels, skillProblems, learning, jobFinished }: ClientServices,
): void {
  onAgentNotification(app, learningMethods.changed, ({ params }) => learning.changed(params));
  onAgentNotification(app, cronMethods.changed, () => learning.changed({ items: [] }));
  onAgentNotification(app, processMethods.changed, ({ params }) => panels.setProcesses(params));
  onAgentNotification(app, extensionMethods.changed, ({ params }) => {
    panels.setExtensions(params);
    skillProblems.show(params);
  });
  onAgentNotification(app, sessionMethods.building, ({ params }) => sessionLists.building(params));
  onAgentNotification(app, sessionMethods.importing, ({ params }) => sessionLists.importing(params));
  onAgentNotification(app, sessionMethods.changed, () => sessionLists.changed());
  onAgentNotification(app, cronMethods.finished, ({ params }) => jobFinished(params));
}

function registerTerminalRequests(app: ClientApp, { terminals }: ClientServices): void {
  const { create, output, waitForExit, kill, release } = methods.client.terminal;
  app.onRequest(create, ({ params }) => terminals.create(params));
  app.onRequest(output, ({ params }) => terminals.output(params.terminalId));
  app.onRequest(waitForExit, ({ params }) => terminals.waitForExit(params.terminalId));
  app.onRequest(kill, async ({ params }) => {
    await terminals.kill(params.terminalId);
    return {};
  });
  app.onRequest(release, ({ params }) => {
    terminals.release(params.terminalId);
    return {};
  });
}

function registerTerminalInput(app: ClientApp, { terminals }: ClientServices): void {
  onAgentRequest(app, terminalMethods.input, async ({ params: { terminalId, text } }) => {
    const reason = await terminals.input(terminalId, text);
    return reason === undefined ? {} : { reason };
  });
}

/** Files in the tabs, of the disk. Another tab may cover the panel's own. */
function openFiles(): HermesOpenFiles {
  const { activeTextEditor } = vscode.window;
  const paths = (found: readonly { readonly uri: vscode.Uri }[]): string[] =>
    found.flatMap(({ uri }) => (uri.scheme === "file" ? [uri.fsPath] : []));
  const [active = null] = paths(activeTextEditor ? [activeTextEditor.document] : []);
  return { active, open: paths(textTabs()) };
}

/**
 * VS Code opens a text as it is, which its types do not say. Of a Uri it opens the decoded form, and a sign-in's address with
 * `%2B` or `%26` in a parameter would mean something else.
 */
function asWritten(url: string): vscode.Uri {
  return url as unknown as vscode.Uri;
}

/** An input box of VS Code, which no page and no extension reads. Null: none. */
async function askPassword(
  { prompt, command, isRetry }: HermesPasswordQuestion,
  signal: AbortSignal,
): Promise<string | null> {
  const closing = new vscode.CancellationTokenSource();
  signal.addEventListener("abort", () => closing.cancel(), { once: true });
  const box = {
    title: isRetry ? vscode.l10n.t("The password was refused") : vscode.l10n.t("A command needs a password"),
    prompt: vscode.l10n.t("{0} (asked by {1})", prompt.trim(), command),
    password: true,
    ignoreFocusOut: true,
  };
  const typed = await vscode.window.showInputBox(box, closing.token);
  closing.dispose();
  return typed || null;
}

/** Problems after an edit, the browser, and language models. */
function registerEditorRequests(app: ClientApp, { problems }: ClientServices): void {
  onAgentRequest(app, problemMethods.watch, ({ params: { sessionId, watchId } }) =>
    problems.watch(`${sessionId} ${watchId}`),
  );
  onAgentRequest(app, problemMethods.settled, async ({ params: { sessionId, watchId, paths }, signal }) => ({
    files: await problems.settled(`${sessionId} ${watchId}`, paths, signal),
  }));
  onAgentRequest(app, passwordMethod, async ({ params, signal }) => ({ password: await askPassword(params, signal) }));
  onAgentRequest(app, openUrlMethod, async ({ params: { url, message } }) => {
    const opened = /^https?:/i.test(url) && (await vscode.env.openExternal(asWritten(url)));
    if (opened && message !== undefined) void showInformation(message);
    return { opened };
  });
  onAgentRequest(app, fileMethods.open, openFiles);
  onAgentRequest(app, editorModelMethods.list, listEditorModels);
  onAgentRequest(app, editorModelMethods.chat, ({ params: chat, agent, signal }) =>
    askEditorModel(
      chat,
      (part) => notify(agent, editorModelMethods.delta, { chatId: chat.chatId, parts: [part] }),
      signal,
    ),
  );
}
