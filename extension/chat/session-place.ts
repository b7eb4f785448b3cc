/** Where a session of this window works, and what a new one is told with that. */
import * as vscode from "vscode";
import type { HermesSessionMeta } from "../../agent-core/protocol/sessions.ts";

export type SessionPlace = {
  readonly cwd: string;
  readonly additionalDirectories: string[];
  readonly mcpServers: never[];
  readonly _meta: { readonly hermes: HermesSessionMeta };
};

/** `model`: what a new session begins with. Throws an Error in one line when no folder is open. */
export function sessionPlace(model: string | undefined): SessionPlace {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const [cwd, ...additionalDirectories] = folders;
  if (cwd === undefined) throw new Error("Open a folder to start: the agent works in a folder.");
  const trusted = vscode.workspace.isTrusted;
  const hermes: HermesSessionMeta = { trusted, ...(model !== undefined && { model }) };
  return { cwd, additionalDirectories, mcpServers: [], _meta: { hermes } };
}
