/** The extension as an ACP client: what it offers the agent, built from the table of client methods. */
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  methods,
  PROTOCOL_VERSION,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { HermesClientCapabilities } from "../../agent-core/protocol/capabilities.ts";
import { editorModelMethods } from "../../agent-core/protocol/editor-models.ts";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { notify } from "../../agent-core/protocol/method.ts";
import type { ClientServices } from "../client/client-method.ts";
import { registerEditorRequests } from "../client/editor-requests.ts";
import { registerSessionRequests } from "../client/session-requests.ts";
import { table } from "../client/table.gen.ts";
import { registerTerminalRequests } from "../client/terminal-requests.ts";

const OURS: HermesClientCapabilities = {
  expectedText: true,
  unsavedText: true,
  fileMoves: true,
  putBack: true,
  problems: true,
  processes: true,
  compressions: true,
  terminals: true,
  languageModels: true,
  sessionIndex: true,
};

const CAPABILITIES: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {} },
  session: { notices: {} },
  _meta: { hermes: OURS },
};

/** Connects and initializes. Rejects when the agent does not answer as one. */
export async function connect(stream: Stream, services: ClientServices): Promise<ClientConnection> {
  const app = client({ name: "hermes-vscode" });
  for (const method of table) method.register(app, services);
  registerTerminalRequests(app, services);
  registerSessionRequests(app, services);
  registerEditorRequests(app, services);
  const connection = app.connect(stream);
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "vscode", title: vscode.env.appName, version: vscode.version },
    clientCapabilities: CAPABILITIES,
  });
  const { agent } = connection;
  const changes = [
    vscode.lm.onDidChangeChatModels(() => notify(agent, editorModelMethods.changed, {})),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (uri.scheme === "file") notify(agent, fileMethods.saved, { path: uri.fsPath });
    }),
  ];
  void connection.closed.finally(() => {
    for (const change of changes) change.dispose();
  });
  return connection;
}
