import { methods } from "@zed-industries/agent-client-protocol";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

/** As session/load, for a client that shows the history itself. */
export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const { session } = await server.loadSession(client, sessionPlace(params), params.sessionId);
      announceCommands(session);
      return { modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
