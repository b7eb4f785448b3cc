import * as z from "zod";
import { type HermesProcessInput, type HermesProcessInputAnswer, PROCESS_METHODS } from "../meta/processes.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  id: z.string(),
  text: z.string(),
}) satisfies z.ZodType<HermesProcessInput>;

export const method: Method = {
  register(app, server) {
    app.onRequest(PROCESS_METHODS.input, params, async ({ params }): Promise<HermesProcessInputAnswer> => {
      const { sessionId, id, text } = params;
      const outcome = await server.session(sessionId).processes.find(id).writeForUser(text);
      return outcome.ok ? {} : { reason: outcome.reason };
    });
  },
};
