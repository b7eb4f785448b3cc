/** The Host of a session over ACP: the client's files and terminals where it offers them, this machine's otherwise. */
import type { AgentContext, ClientCapabilities } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { Host } from "../host/host.ts";
import { clientFiles } from "./client-files.ts";
import { clientTerminals } from "./client-terminals.ts";
import type { HermesClientCapabilities } from "./meta.ts";

const metaSchema = z.object({
  hermes: z.object({ expectedText: z.boolean().optional(), terminalOutputFile: z.boolean().optional() }),
});

export type AcpHostOptions = {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** This machine. */
  readonly local: Host;
};

export function acpHost({ client, capabilities, sessionId, roots, local }: AcpHostOptions): Host {
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
    terminals:
      capabilities.terminal === true
        ? clientTerminals({ client, sessionId, writesOutputFile: ours.terminalOutputFile === true })
        : local.terminals,
  };
}

function ourCapabilities({ _meta: meta }: ClientCapabilities): HermesClientCapabilities {
  const ours = metaSchema.safeParse(meta).data?.hermes;
  return { expectedText: ours?.expectedText === true, terminalOutputFile: ours?.terminalOutputFile === true };
}
