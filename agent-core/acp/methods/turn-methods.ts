/** Turns of a session and its options: prompt, cancel, steer, mode, model, effort. */
import { type AgentApp, methods, RequestError } from "@zed-industries/agent-client-protocol";
import { steerMethod } from "../../protocol/conversation.ts";
import { invalidParams, onClientRequest } from "../../protocol/handle.ts";
import type { AcpSession } from "../acp-session.ts";
import type { AgentServer } from "../agent-server.ts";
import { EFFORT_OPTION, MODEL_OPTION, modeIds, modeOf } from "../config-options.ts";
import { userMessage } from "../prompt-content.ts";

export function registerTurnMethods(app: AgentApp, server: AgentServer): void {
  app.onRequest(methods.agent.session.prompt, ({ params, signal }) =>
    server.session(params.sessionId).prompt(params.prompt, signal),
  );
  // A notification has no response: an unknown session has nothing to cancel.
  app.onNotification(methods.agent.session.cancel, ({ params }) => server.findSession(params.sessionId)?.cancel());
  onClientRequest(app, steerMethod, ({ params: { sessionId, prompt } }) => {
    const isQueued = server.session(sessionId).agent.steer(userMessage(prompt));
    if (!isQueued) throw new RequestError(-32600, "No turn is running in this session; send a prompt instead.");
    return { queued: true as const };
  });
  app.onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
    const session = server.session(sessionId);
    const mode = modeOf(modeId);
    if (mode === undefined) {
      throw invalidParams("modeId", `there is no mode ${JSON.stringify(modeId)}; available: ${modeIds()}`);
    }
    session.setMode(mode);
    return {};
  });
  app.onRequest(methods.agent.session.setConfigOption, async ({ params: { sessionId, configId, value } }) => {
    const session = server.session(sessionId);
    await setOption(session, configId, value);
    return { configOptions: session.configOptions };
  });
}

async function setOption(session: AcpSession, id: string, value: string | boolean): Promise<void> {
  const option = session.configOptions.find((candidate) => candidate.id === id);
  if (option === undefined) {
    const known = session.configOptions.map((candidate) => candidate.id).join(", ");
    throw invalidParams("configId", `there is no option ${JSON.stringify(id)}; available: ${known}`);
  }
  if (value === option.currentValue) return;
  const problem = await change(session, id, String(value));
  if (problem !== undefined) throw invalidParams("value", problem);
}

/** Returns the problem, in one line. */
async function change(session: AcpSession, id: string, value: string): Promise<string | undefined> {
  if (id === MODEL_OPTION) return session.model.chooseListed(value);
  if (id === EFFORT_OPTION) return session.model.setEffort(value);
  const mode = modeOf(value);
  if (mode === undefined) return `${JSON.stringify(value)} is not a value of ${id}`;
  session.setMode(mode);
  return undefined;
}
