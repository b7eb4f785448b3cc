/** The Host of a session over ACP: the client's files and terminals where it offers them, this machine's otherwise. */
import type { AgentContext, ClientCapabilities } from "@zed-industries/agent-client-protocol";
import type { Host } from "../host/host.ts";
import type { Backend } from "../host/terminals/backend.ts";
import { childRunner } from "../host/terminals/child-runner.ts";
import { sessionTerminals } from "../host/terminals/session-terminals.ts";
import { clientFiles } from "./client-files.ts";
import { clientProblems } from "./client-problems.ts";
import { clientRunner } from "./client-runner.ts";
import { hermesCapabilities } from "./hermes-capabilities.ts";

export type AcpHostOptions = {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** This machine. */
  readonly local: Host;
  /** Where commands run. */
  readonly backend: Backend;
};

export function acpHost({ client, capabilities, sessionId, roots, local, backend }: AcpHostOptions): Host {
  const ours = hermesCapabilities(capabilities);
  return {
    search: local.search,
    files: clientFiles({
      client,
      sessionId,
      roots,
      canRead: capabilities.fs?.readTextFile === true,
      canWrite: capabilities.fs?.writeTextFile === true,
      givesUnsaved: ours.unsavedText === true,
      checksExpected: ours.expectedText === true,
      movesFiles: ours.fileMoves === true,
      reverts: ours.putBack === true,
      disk: local.files,
    }),
    problems: ours.problems === true ? clientProblems({ client, sessionId, local: local.problems }) : local.problems,
    terminals: sessionTerminals(
      backend,
      capabilities.terminal === true
        ? clientRunner({ client, sessionId, isOurs: ours.terminals === true })
        : childRunner(),
    ),
  };
}
