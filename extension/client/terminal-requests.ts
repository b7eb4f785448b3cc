/** The agent's requests about terminals. */
import { type ClientApp, methods } from "@zed-industries/agent-client-protocol";
import { onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { terminalMethods } from "../../agent-core/protocol/terminals.ts";
import type { ClientServices } from "./client-services.ts";

export function registerTerminalRequests(app: ClientApp, { terminals }: ClientServices): void {
  const { create, output, waitForExit, kill, release } = methods.client.terminal;
  app.onRequest(create, ({ params }) => terminals.create(params));
  app.onRequest(output, ({ params }) => terminals.output(params.terminalId));
  app.onRequest(waitForExit, ({ params }) => terminals.waitForExit(params.terminalId));
  app.onRequest(kill, async ({ params }) => {
    await terminals.kill(params.terminalId);
    return {};
  });
  app.onRequest(release, ({ params }) => {
    terminals.release(params.terminalId);
    return {};
  });
  onAgentRequest(app, terminalMethods.input, async ({ params: { terminalId, text } }) => {
    const reason = await terminals.input(terminalId, text);
    return reason === undefined ? {} : { reason };
  });
}
