import * as z from "zod";
import { HERMES_SESSION_METHODS, type HermesRewind, type HermesRewound } from "../meta/sessions.ts";
import { paramsOf } from "../params-of.ts";
import { userText } from "../user-text.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  position: z.int().min(0),
}) satisfies z.ZodType<HermesRewind>;

export const method: Method = {
  register(app, server) {
    const { rewind } = HERMES_SESSION_METHODS;
    app.onRequest(rewind, paramsOf(params), ({ params: { sessionId, position } }): Promise<HermesRewound> => {
      const session = server.session(sessionId);
      return session.betweenTurns(async () => {
        const said = session.agent.said.find((candidate) => candidate.position === position);
        session.agent.rewind(position);
        return { prompt: userText(said?.message) };
      });
    });
  },
};
