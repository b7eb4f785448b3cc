/** Jobs that run at planned times. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { cronMethods } from "../../protocol/cron.ts";
import { onClientRequest } from "../../protocol/handle.ts";
import type { AgentServer } from "../agent-server.ts";
import { asRequestError } from "../request-errors.ts";

export function registerCronMethods(app: AgentApp, { jobs, background }: AgentServer): void {
  onClientRequest(app, cronMethods.list, () => jobs.state().catch(asRequestError));
  onClientRequest(app, cronMethods.act, ({ params, signal }) =>
    jobs.act(params, undefined, signal).catch(asRequestError),
  );
  onClientRequest(app, cronMethods.tick, async ({ signal }) => {
    const runs = await jobs.runDue(signal).catch(asRequestError);
    return { runs, learnt: await background.runDue(signal).catch(asRequestError) };
  });
}
