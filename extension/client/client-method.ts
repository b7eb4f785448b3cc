/** What an ACP client method of ours is: one file in this folder that exports `clientMethod`. */
import type { ClientApp, SessionNotification } from "@zed-industries/agent-client-protocol";
import type { Requests } from "../requests/requests.ts";
import type { AgentTerminals } from "../terminals/agent-terminals.ts";

/** An edit of the agent that has just been made. Paths are absolute; `before` is null for a new file. */
export type AgentEdit = { readonly path: string; readonly before: string | null; readonly after: string };

export type ClientServices = {
  readonly terminals: AgentTerminals;
  readonly requests: Requests;
  /** Who shows the session. */
  readonly sessionUpdate: (notification: SessionNotification) => void;
  /** Who reviews edits. */
  readonly edited: (edit: AgentEdit) => void;
};

export type ClientMethod = { register(app: ClientApp, services: ClientServices): void };
