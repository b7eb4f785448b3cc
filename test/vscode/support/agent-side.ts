// The agent's side of a connection to the extension: the core's own Host over ACP, answered by the extension's methods.
import { type AgentContext, agent, methods, PROTOCOL_VERSION } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { acpHost } from "../../../agent-core/acp/acp-host.ts";
import { ConnectedClient } from "../../../agent-core/acp/connected-client.ts";
import type { Host } from "../../../agent-core/host/host.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { localBackend } from "../../../agent-core/host/terminals/local-backend.ts";
import { connect } from "../../../extension/agent/connect-agent.ts";
import type { EditReview } from "../../../extension/client/client-services.ts";
import { applyGuardedEdit, expectedEdit } from "../../../extension/documents/guarded-edit.ts";
import { EditProblems } from "../../../extension/problems/edit-problems.ts";
import { Requests } from "../../../extension/requests/requests.ts";
import { AgentTerminals } from "../../../extension/terminals/agent-terminals.ts";

/** Both ends of a connection in one extension host. */
export type AgentSide = {
  /** Host of the core's tools. */
  readonly host: Host;
  /** The way to the extension, for the protocol's own methods. */
  readonly client: AgentContext;
  readonly terminals: AgentTerminals;
  /** Resolves when the terminal has printed `text`, from now on or before. */
  printed(terminalId: string | undefined, text: string): Promise<void>;
  dispose(): Promise<void>;
};

/** Absolute path of the workspace's folder. */
export function workspaceFolder(): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Error("The suites run in a window with a folder.");
  return folder.uri.fsPath;
}

/** Lets every write pass. */
export const unreviewed: EditReview = {
  async write(edit, _signal, writing) {
    writing();
    return { written: await applyGuardedEdit(edit) };
  },
  revert: (edit) => applyGuardedEdit(edit),
  async move({ from, expected }, move) {
    await expectedEdit({ path: from, expected, after: null });
    await move();
  },
};

/** Connects to the extension's real client methods. */
export async function connectAgentSide(editReview: EditReview = unreviewed): Promise<AgentSide> {
  const nobody = (): void => undefined;
  const prints = new Prints();
  const terminals = new AgentTerminals({
    output: (_session, id, text) => prints.add(id, text),
    exit: nobody,
  });
  const requests = unansweredRequests();
  const problems = new EditProblems();
  const { promise, resolve } = Promise.withResolvers<Pick<AgentSide, "host" | "client">>();
  const local = nodeHost();
  const app = agent({ name: "suite" }).onRequest(methods.agent.initialize, ({ params, client }) => {
    const capabilities = params.clientCapabilities ?? {};
    const roots = [workspaceFolder()];
    const host = acpHost({
      client,
      identity: new ConnectedClient(capabilities, undefined, undefined),
      sessionId: "suite",
      roots,
      local,
      backend: localBackend(),
    });
    resolve({ host, client });
    return { protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} };
  });
  const there = new TransformStream();
  const back = new TransformStream();
  const serving = app.connect({ readable: there.readable, writable: back.writable });
  const connection = await connect(
    { readable: back.readable, writable: there.writable },
    {
      terminals,
      requests,
      sessionUpdate: nobody,
      sessionLists: { building: nobody, importing: nobody, changed: nobody },
      jobFinished: nobody,
      panels: { setProcesses: nobody, setExtensions: nobody },
      skillProblems: { show: nobody },
      learning: { changed: () => undefined },
      editReview,
      problems,
    },
  );
  return {
    ...(await promise),
    terminals,
    printed: (terminalId, text) => prints.wait(terminalId ?? "", text),
    async dispose() {
      connection.close();
      serving.close();
      terminals.dispose();
      problems.dispose();
      await local.terminals.dispose();
    },
  };
}

/** Requests that no panel shows. */
export function unansweredRequests(): Requests {
  const nobody = (): void => undefined;
  return new Requests({
    show: nobody,
    changed: nobody,
    reveal: nobody,
    isInSight: () => true,
    notify: () => Promise.resolve(undefined),
  });
}

/** Output of each terminal, and promises for parts of it. */
class Prints {
  readonly #texts = new Map<string, string>();
  readonly #added = new vscode.EventEmitter<void>();

  add(terminalId: string, text: string): void {
    this.#texts.set(terminalId, (this.#texts.get(terminalId) ?? "") + text);
    this.#added.fire();
  }

  async wait(terminalId: string, text: string): Promise<void> {
    const has = (): boolean => this.#texts.get(terminalId)?.includes(text) === true;
    if (has()) return;
    await new Promise<void>((resolve) => {
      const subscription = this.#added.event(() => {
        if (!has()) return;
        subscription.dispose();
        resolve();
      });
    });
  }
}
