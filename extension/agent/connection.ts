/** Connects the extension to the agent as an ACP client, and declares its capabilities. */
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
import { registerEditorRequests, registerSessionRequests, registerTerminalRequests } from "../client/agent-requests.ts";
import type { ClientServices } from "../client/client-services.ts";
import { registerFileRequests } from "../client/file-requests.ts";

const OURS: HermesClientCapabilities = {
  expectedText: true,
  unsavedText: true,
  fileMoves: true,
  putBack: true,
  problems: true,
  palette: true,
  processes: true,
  compressions: true,
  grants: true,
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

/** Rejects when the agent does not answer `initialize`. */
export async function connect(stream: Stream, services: ClientServices): Promise<ClientConnection> {
  const app = client({ name: "hermes-vscode" });
  registerFileRequests(app, services);
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
