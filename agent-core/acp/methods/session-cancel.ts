import { methods } from "@zed-industries/agent-client-protocol";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    // A notification has no answer: an unknown session has nothing to cancel.
    app.onNotification(methods.agent.session.cancel, ({ params }) => server.findSession(params.sessionId)?.cancel());
  },
};
