import { methods } from "@zed-industries/agent-client-protocol";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { replay } from "../replay.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.session.load, async ({ params, client }) => {
      const { session, stored } = await server.loadSession(client, sessionPlace(params), params.sessionId);
      await session.sendAll(replay(stored));
      if (stored.title !== undefined) session.send({ sessionUpdate: "session_info_update", title: stored.title });
      announceCommands(session);
      return { modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
