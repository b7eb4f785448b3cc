/** The agent's requests and notifications about sessions: updates, permissions, questions, processes, lists. */
import { type ClientApp, methods } from "@zed-industries/agent-client-protocol";
import { onAgentNotification } from "../../agent-core/protocol/handle.ts";
import { processMethods } from "../../agent-core/protocol/processes.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { ClientServices } from "./client-services.ts";

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
