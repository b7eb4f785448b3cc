/** The Host of a session over ACP: the client's files and terminals where it offers them, this machine's otherwise. */
import type { AgentContext, ClientCapabilities } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { Host } from "../host/host.ts";
import type { Backend } from "../host/terminals/backend.ts";
import { childRunner } from "../host/terminals/child-runner.ts";
import { sessionTerminals } from "../host/terminals/session-terminals.ts";
import { clientFiles } from "./client-files.ts";
import { clientRunner } from "./client-runner.ts";
import type { HermesClientCapabilities } from "./meta.ts";

const metaSchema = z.object({
  hermes: z.object({ expectedText: z.boolean().optional(), terminals: z.boolean().optional() }),
});

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
  const ours = ourCapabilities(capabilities);
  return {
    search: local.search,
    files: clientFiles({
      client,
      sessionId,
      roots,
      canRead: capabilities.fs?.readTextFile === true,
      canWrite: capabilities.fs?.writeTextFile === true,
      checksExpected: ours.expectedText === true,
      disk: local.files,
    }),
    terminals: sessionTerminals(
      backend,
      capabilities.terminal === true
        ? clientRunner({ client, sessionId, isOurs: ours.terminals === true })
        : childRunner(),
    ),
  };
}

function ourCapabilities({ _meta: meta }: ClientCapabilities): HermesClientCapabilities {
  const ours = metaSchema.safeParse(meta).data?.hermes;
  return { expectedText: ours?.expectedText === true, terminals: ours?.terminals === true };
}
