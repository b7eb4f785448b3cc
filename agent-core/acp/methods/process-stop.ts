import * as z from "zod";
import { type HermesProcessId, processMethods } from "../../protocol/processes.ts";
import type { Method } from "./method.ts";

const params = z.object({ sessionId: z.string(), id: z.string() }) satisfies z.ZodType<HermesProcessId>;

export const method: Method = {
  register(app, server) {
    app.onRequest(processMethods.stop.name, params, async ({ params: { sessionId, id } }) => {
      await server.session(sessionId).processes.find(id).stopForUser();
      return {};
    });
  },
};
