/** Answers of a model for the editor itself, without a session. */
import { type AgentApp, RequestError } from "@zed-industries/agent-client-protocol";
import { setUpModels } from "../../agent/agent-models.ts";
import type { Auxiliary } from "../../agent/auxiliary.ts";
import { commitRequest, messageIn } from "../../agent/commit-message.ts";
import { commitMethods } from "../../protocol/commit-message.ts";
import { onClientRequest } from "../../protocol/handle.ts";
import { settingsOf } from "../../providers/choice.ts";
import { offline } from "../../providers/deployments.ts";
import { secretsOf } from "../../providers/redact.ts";
import type { AgentServer } from "../agent-server.ts";
import { authRequired, faultError, INTERNAL_ERROR } from "../request-errors.ts";
import { startingModel } from "../session-model.ts";

const NO_MODEL = 'Hermes has no model that can write a commit message. Choose one with "Hermes: Choose Model".';

export function registerEditorMethods(app: AgentApp, server: AgentServer): void {
  onClientRequest(app, commitMethods.message, async ({ params, signal }) => {
    const { auxiliary, environment } = await sessionlessModels(server, params.model);
    const messages = commitRequest(params, secretsOf(environment));
    const answer = await auxiliary.ask("commit_message", { messages, signal });
    if (!answer.ok) throw faultError(answer.fault, server.client.keyHint);
    const message = messageIn(answer.text);
    if (message === "") throw new RequestError(INTERNAL_ERROR, "The model answered without a commit message.");
    return { message };
  });
}

/** Models for a request outside every session. Throws the protocol's error when there is no model. */
async function sessionlessModels(server: AgentServer, model: string | undefined) {
  const { configuration, client } = server;
  if (server.isLoggedOut) throw authRequired("You are logged out; log in first.", client.keyHint);
  const { options } = await configuration.read();
  const { resolved } = await startingModel(
    configuration.directory,
    { model, reasoningEffort: undefined },
    client.keyHint,
  );
  const environment = options.environment ?? {};
  const { auxiliary }: { auxiliary: Auxiliary } = setUpModels(
    {
      ...options,
      ...settingsOf(resolved),
      ...(client.models && { editorModels: client.models }),
      modelFacts: (used) => configuration.directory.facts(used),
    },
    environment,
  );
  const answering = auxiliary.ownModel("commit_message") ?? resolved;
  if (answering.endpoint.provider === offline.name) throw new RequestError(INTERNAL_ERROR, NO_MODEL);
  return { auxiliary, environment };
}
