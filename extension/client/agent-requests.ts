/** The agent's requests and notifications, except those about files: sessions, terminals, problems, language models. */
import { type ClientApp, methods } from "@zed-industries/agent-client-protocol";
import { editorModelMethods } from "../../agent-core/protocol/editor-models.ts";
import { onAgentNotification, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { notify } from "../../agent-core/protocol/method.ts";
import { problemMethods } from "../../agent-core/protocol/problems.ts";
import { processMethods } from "../../agent-core/protocol/processes.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { terminalMethods } from "../../agent-core/protocol/terminals.ts";
import { askEditorModel, listEditorModels } from "../models/editor-models.ts";
import type { ClientServices } from "./client-services.ts";

/** Updates, permission requests, questions, processes, lists of sessions. */
export function registerSessionRequests(app: ClientApp, services: ClientServices): void {
  const { requests, sessionUpdate, sessionLists, processesChanged } = services;
  app.onNotification(methods.client.session.update, ({ params }) => sessionUpdate(params));
  app.onRequest(methods.client.session.requestPermission, async ({ params, signal }) => ({
    outcome: await requests.permission(params, signal),
  }));
  app.onRequest(methods.client.elicitation.create, ({ params, signal }) => requests.question(params, signal));
  onAgentNotification(app, processMethods.changed, ({ params }) => processesChanged(params));
  onAgentNotification(app, sessionMethods.building, ({ params }) => sessionLists.building(params));
  onAgentNotification(app, sessionMethods.importing, ({ params }) => sessionLists.importing(params));
  onAgentNotification(app, sessionMethods.changed, () => sessionLists.changed());
}

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

/** Problems after an edit, and language models. */
export function registerEditorRequests(app: ClientApp, { problems }: ClientServices): void {
  onAgentRequest(app, problemMethods.watch, ({ params: { sessionId, watchId } }) => {
    problems.watch(`${sessionId} ${watchId}`);
    return {};
  });
  onAgentRequest(app, problemMethods.settled, async ({ params: { sessionId, watchId, paths }, signal }) => ({
    files: await problems.settled(`${sessionId} ${watchId}`, paths, signal),
  }));
  onAgentRequest(app, editorModelMethods.list, listEditorModels);
  onAgentRequest(app, editorModelMethods.chat, ({ params: chat, agent, signal }) =>
    askEditorModel(
      chat,
      (part) => notify(agent, editorModelMethods.delta, { chatId: chat.chatId, parts: [part] }),
      signal,
    ),
  );
}
