import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import type { AcpSession } from "../acp-session.ts";
import { modeOf } from "../modes.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      const session = server.session(params.sessionId);
      setOption(session, params.configId, params.value);
      return { configOptions: session.configOptions };
    });
  },
};

function setOption(session: AcpSession, id: string, value: string | boolean): void {
  const option = session.configOptions.find((candidate) => candidate.id === id);
  if (option === undefined) {
    const known = session.configOptions.map((candidate) => candidate.id).join(", ");
    throw refused("configId", `there is no option ${JSON.stringify(id)}; there are: ${known}`);
  }
  if (value === option.currentValue) return;
  const mode = id === "mode" ? modeOf(String(value)) : undefined;
  if (mode === undefined) throw refused("value", `${JSON.stringify(value)} is not a value of ${id}`);
  session.setMode(mode);
}

function refused(field: string, problem: string): RequestError {
  return RequestError.invalidParams({ field }, `${field}: ${problem}`);
}
