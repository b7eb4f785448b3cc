/** Background commands of a session: list, output, input, stop. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { onClientRequest } from "../../protocol/handle.ts";
import { processMethods } from "../../protocol/processes.ts";
import type { AgentServer } from "../agent-server.ts";

/** Size of one response. Bytes. */
const OUTPUT_BYTES = 65_536;

export function registerProcessMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, processMethods.list, ({ params }) => server.session(params.sessionId).processes.list());
  onClientRequest(app, processMethods.output, async ({ params: { sessionId, id, from } }) => {
    const { running } = server.session(sessionId).processes.find(id);
    const { totalBytes } = await running.read(0, 0);
    return running.read(from ?? Math.max(0, totalBytes - OUTPUT_BYTES), OUTPUT_BYTES);
  });
  onClientRequest(app, processMethods.input, async ({ params: { sessionId, id, text } }) => {
    const outcome = await server.session(sessionId).processes.find(id).writeForUser(text);
    return outcome.ok ? {} : { reason: outcome.reason };
  });
  onClientRequest(app, processMethods.stop, async ({ params: { sessionId, id } }) => {
    await server.session(sessionId).processes.find(id).stopForUser();
    return {};
  });
}
