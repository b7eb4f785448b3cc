import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { HERMES_SESSION_METHODS, type HermesRewind, type HermesRewound } from "../meta/sessions.ts";
import { userText } from "../user-text.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  position: z.int().min(0),
}) satisfies z.ZodType<HermesRewind>;

export const method: Method = {
  register(app, server) {
    const { rewind } = HERMES_SESSION_METHODS;
    app.onRequest(rewind, params, ({ params: { sessionId, position } }): HermesRewound => {
      const { agent } = server.session(sessionId);
      if (agent.isRunning) throw new RequestError(-32600, "A turn is running; stop it before anything is taken back.");
      const said = agent.said.find((candidate) => candidate.position === position);
      agent.rewind(position);
      return { prompt: userText(said?.message) };
    });
  },
};
