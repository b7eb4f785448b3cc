/** What an ACP method of ours is: one file in methods/ that exports `method`; the table is generated. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import type { AgentServer } from "../agent-server.ts";

export type Method = { register(app: AgentApp, server: AgentServer): void };
