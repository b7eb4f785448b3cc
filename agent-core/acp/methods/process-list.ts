import * as z from "zod";
import { type HermesProcesses, PROCESS_METHODS } from "../meta/processes.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(
      PROCESS_METHODS.list,
      z.object({ sessionId: z.string() }),
      ({ params }): Promise<HermesProcesses> => server.session(params.sessionId).processes.list(),
    );
  },
};
