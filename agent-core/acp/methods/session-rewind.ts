import * as z from "zod";
import { type HermesRewind, type HermesRewound, sessionMethods } from "../../protocol/sessions.ts";
import { paramsOf } from "../params-of.ts";
import { userText } from "../user-text.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  position: z.int().min(0),
}) satisfies z.ZodType<HermesRewind>;

export const method: Method = {
  register(app, server) {
    const { rewind } = sessionMethods;
    app.onRequest(rewind.name, paramsOf(params), ({ params: { sessionId, position } }): Promise<HermesRewound> => {
      const session = server.session(sessionId);
      return session.betweenTurns(async () => {
        const said = session.agent.said.find((candidate) => candidate.position === position);
        session.agent.rewind(position);
        return { prompt: userText(said?.message) };
      });
    });
  },
};
