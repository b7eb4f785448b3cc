import { methods } from "@zed-industries/agent-client-protocol";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.delete, async ({ params }) => {
      await server.deleteSession(params.sessionId);
      return {};
    });
  },
};
