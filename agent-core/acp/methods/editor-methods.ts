/** Answers of a model for the editor itself, without a session. */
import { type AgentApp, RequestError } from "@zed-industries/agent-client-protocol";
import { commitRequest, messageIn } from "../../agent/commit-message.ts";
import { commitMethods } from "../../protocol/commit-message.ts";
import { onClientRequest } from "../../protocol/handle.ts";
import { secretsOf } from "../../providers/redact.ts";
import type { AgentServer } from "../agent-server.ts";
import { faultError, INTERNAL_ERROR } from "../request-errors.ts";
import { sessionlessModels } from "../sessionless-models.ts";

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
