import { forkMethod } from "../../protocol/sessions.ts";
import { announceCommands } from "../greet.ts";
import { modeState } from "../modes.ts";
import { paramsOf } from "../params-of.ts";
import { sessionPlace } from "../session-place.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(forkMethod.name, paramsOf(forkMethod.params), async ({ params: { sessionId, ...place }, client }) => {
      const position = place._meta?.hermes?.position;
      const session = await server.forkSession(client, sessionPlace(place), {
        id: sessionId,
        ...(position !== undefined && { position }),
      });
      announceCommands(session);
      return { sessionId: session.id, modes: modeState(session.mode), configOptions: session.configOptions };
    });
  },
};
