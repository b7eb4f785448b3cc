import { methods } from "@zed-industries/agent-client-protocol";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.close, async ({ params }) => {
      await server.closeSession(server.session(params.sessionId).id);
      return {};
    });
  },
};
