import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import type { AcpSession } from "../acp-session.ts";
import { EFFORT_OPTION } from "../effort-option.ts";
import { MODEL_OPTION } from "../model-option.ts";
import { modeOf } from "../modes.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.setConfigOption, async ({ params }) => {
      const session = server.session(params.sessionId);
      await setOption(session, params.configId, params.value);
      return { configOptions: session.configOptions };
    });
  },
};

async function setOption(session: AcpSession, id: string, value: string | boolean): Promise<void> {
  const option = session.configOptions.find((candidate) => candidate.id === id);
  if (option === undefined) {
    const known = session.configOptions.map((candidate) => candidate.id).join(", ");
    throw refused("configId", `there is no option ${JSON.stringify(id)}; there are: ${known}`);
  }
  if (value === option.currentValue) return;
  const problem = await change(session, id, String(value));
  if (problem !== undefined) throw refused("value", problem);
}

/** Gives what is wrong, in one line. */
async function change(session: AcpSession, id: string, value: string): Promise<string | undefined> {
  if (id === MODEL_OPTION) return session.model.chooseListed(value);
  if (id === EFFORT_OPTION) return session.model.setEffort(value);
  const mode = modeOf(value);
  if (mode === undefined) return `${JSON.stringify(value)} is not a value of ${id}`;
  session.setMode(mode);
  return undefined;
}

function refused(field: string, problem: string): RequestError {
  return RequestError.invalidParams({ field }, `${field}: ${problem}`);
}
