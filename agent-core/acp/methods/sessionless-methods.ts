/** Methods without a session: learnt items and loops, planned jobs, and commit messages. */
import { type AgentApp, RequestError } from "@zed-industries/agent-client-protocol";
import { commitRequest, messageIn } from "../../agent/commit-request.ts";
import { commitMethods } from "../../protocol/commit-message.ts";
import { cronMethods } from "../../protocol/cron.ts";
import { onClientRequest } from "../../protocol/handle.ts";
import { learningMethods } from "../../protocol/learning.ts";
import { secretsOf } from "../../providers/redact.ts";
import type { AgentServer } from "../agent-server.ts";
import { asRequestError, faultError, INTERNAL_ERROR } from "../request-errors.ts";
import { sessionlessModels } from "../sessionless-models.ts";

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

const NO_MODEL = 'Hermes has no model that can write a commit message. Choose one with "Hermes: Choose Model".';

export function registerEditorMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, commitMethods.message, async ({ params, signal }) => {
    const { auxiliary, environment, answering } = await sessionlessModels(server, params.model);
    if (answering("commit_message") === undefined) throw new RequestError(INTERNAL_ERROR, NO_MODEL);
    const messages = commitRequest(params, secretsOf(environment));
    const answer = await auxiliary.ask("commit_message", { messages, signal });
    if (!answer.ok) throw faultError(answer.fault, server.client.keyHint);
    const message = messageIn(answer.text);
    if (message === "") throw new RequestError(INTERNAL_ERROR, "The model answered without a commit message.");
    return { message };
  });
}
