import * as z from "zod";
import { type HermesInputResult, type HermesProcessInput, processMethods } from "../../protocol/processes.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  id: z.string(),
  text: z.string(),
}) satisfies z.ZodType<HermesProcessInput>;

export const method: Method = {
  register(app, server) {
    app.onRequest(processMethods.input.name, params, async ({ params }): Promise<HermesInputResult> => {
      const { sessionId, id, text } = params;
      const outcome = await server.session(sessionId).processes.find(id).writeForUser(text);
      return outcome.ok ? {} : { reason: outcome.reason };
    });
  },
};
