import * as z from "zod";
import { type HermesProcesses, processMethods } from "../../protocol/processes.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(
      processMethods.list.name,
      z.object({ sessionId: z.string() }),
      ({ params }): Promise<HermesProcesses> => server.session(params.sessionId).processes.list(),
    );
  },
};
