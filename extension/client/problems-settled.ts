import * as z from "zod";
import {
  type HermesProblemsFound,
  type HermesProblemsRequest,
  problemMethods,
} from "../../agent-core/protocol/problems.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({
  sessionId: z.string(),
  watchId: z.string(),
  paths: z.array(z.string()),
}) satisfies z.ZodType<HermesProblemsRequest>;

export const clientMethod: ClientMethod = {
  register(app, { problems }) {
    app.onRequest(
      problemMethods.settled.name,
      params,
      async ({ params: { sessionId, watchId, paths }, signal }): Promise<HermesProblemsFound> => ({
        files: await problems.settled(`${sessionId} ${watchId}`, paths, signal),
      }),
    );
  },
};
