import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import { modeIds, modeOf } from "../modes.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.setMode, ({ params }) => {
      const session = server.session(params.sessionId);
      const mode = modeOf(params.modeId);
      if (mode === undefined) {
        const problem = `modeId: there is no mode ${JSON.stringify(params.modeId)}; there are: ${modeIds()}`;
        throw RequestError.invalidParams({ field: "modeId" }, problem);
      }
      session.setMode(mode);
      return {};
    });
  },
};
