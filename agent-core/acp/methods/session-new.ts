import { methods } from "@zed-industries/agent-client-protocol";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.new, async ({ params, client }) => {
      const session = await server.newSession(client, sessionPlace(params));
      announceCommands(session);
      return { sessionId: session.id, modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
