/** Jobs that run at planned times. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { cronMethods } from "../../protocol/cron.ts";
import { onClientRequest } from "../../protocol/handle.ts";
import type { AgentServer } from "../agent-server.ts";

export function registerCronMethods(app: AgentApp, { configuration }: AgentServer): void {
  onClientRequest(app, cronMethods.list, async () => {
    const { enabled, timezone } = (await configuration.read()).cron;
    const zone = timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
    return { enabled, zone, jobs: [], runs: [] };
  });
}
