import { methods } from "@zed-industries/agent-client-protocol";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      server.session(params.sessionId).prompt(params.prompt, signal),
    );
  },
};
