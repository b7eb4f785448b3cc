/** Items that the agent learnt, and the loops that learn. */
import { type AgentApp, RequestError } from "@zed-industries/agent-client-protocol";
import { onClientRequest } from "../../protocol/handle.ts";
import { learningMethods } from "../../protocol/learning.ts";
import type { AgentServer } from "../agent-server.ts";
import { asRequestError, INTERNAL_ERROR } from "../request-errors.ts";

/** Reports without a `count`: a month. */
const REPORTS = 30;

const BUSY = "Another window of this home is learning at the moment. Try again in a minute.";

export function registerLearningMethods(app: AgentApp, { background }: AgentServer): void {
  onClientRequest(app, learningMethods.state, () => background.state().catch(asRequestError));
  onClientRequest(app, learningMethods.act, ({ params }) =>
    background.act(params.id, params.action).catch(asRequestError),
  );
  onClientRequest(app, learningMethods.switch, async ({ params }) => {
    await background.setSwitch(params.name, params.on).catch(asRequestError);
    return {};
  });
  onClientRequest(app, learningMethods.reports, async ({ params }) => ({
    reports: await background.reports(params.count ?? REPORTS).catch(asRequestError),
  }));
  onClientRequest(app, learningMethods.run, async ({ signal }) => {
    if (!(await background.runNow(signal))) throw new RequestError(INTERNAL_ERROR, BUSY);
    return { message: "Everything that was due is done." };
  });
}
