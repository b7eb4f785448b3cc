/** Files of another machine, read-only: the agent of a session reads them there. */
import { posix } from "node:path";
import * as vscode from "vscode";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { Agents } from "../agent/agents.ts";
import type { ChatSession } from "../chat/chat-session.ts";

const SCHEME = "hermes-remote";

/** A path of the session's machine, relative to its folder. */
export function uriIn({ agent, sessionId }: Pick<ChatSession, "agent" | "sessionId">, path: string): vscode.Uri {
  const { remoteCwd } = agent.offers;
  if (remoteCwd === undefined) return vscode.Uri.file(path);
  return vscode.Uri.from({ scheme: SCHEME, path: posix.resolve(remoteCwd, path), query: sessionId ?? "" });
}

/** A file that cannot be read shows the reason. */
export function showRemoteFiles(agents: Pick<Agents, "of">): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    async provideTextDocumentContent({ path, query: sessionId }) {
      const agent = agents.of(sessionId);
      try {
        return (await call(await agent.agent(), fileMethods.read, { sessionId, path })).text;
      } catch (error) {
        return vscode.l10n.t("{0} cannot be read: {1}", path, await agent.explain(error));
      }
    },
  });
}
