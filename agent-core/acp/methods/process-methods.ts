/** Background commands of a session: list, output, input, stop. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import { type HermesProcessId, processMethods } from "../../protocol/processes.ts";
import { processViews } from "../../tools/terminal/process-watch.ts";
import type { BackgroundProcess } from "../../tools/terminal/processes.ts";
import type { AgentServer } from "../agent-server.ts";

/** Size of one response. Bytes. */
const OUTPUT_BYTES = 65_536;

export function registerProcessMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, processMethods.list, async ({ params }) => ({
    processes: await processViews(server.session(params.sessionId).agent.processes),
  }));
  onClientRequest(app, processMethods.output, async ({ params }) => {
    const { running } = processOf(server, params);
    const { totalBytes } = await running.read(0, 0);
    return running.read(params.from ?? Math.max(0, totalBytes - OUTPUT_BYTES), OUTPUT_BYTES);
  });
  onClientRequest(app, processMethods.input, async ({ params }) => {
    const outcome = await processOf(server, params).writeForUser(params.text);
    return outcome.ok ? {} : { reason: outcome.reason };
  });
  onClientRequest(app, processMethods.stop, async ({ params }) => {
    await processOf(server, params).stopForUser();
    return {};
  });
}

/** Throws the protocol's error when there is none. */
function processOf(server: AgentServer, { sessionId, id }: HermesProcessId): BackgroundProcess {
  const found = server.session(sessionId).agent.processes.find(id);
  if (found !== undefined) return found;
  throw invalidParams("id", `there is no process ${JSON.stringify(id)}`);
}
