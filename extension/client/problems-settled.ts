import * as z from "zod";
import { CLIENT_PROBLEMS, type HermesProblems, type HermesProblemsFound } from "../../agent-core/acp/meta/problems.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({
  sessionId: z.string(),
  watchId: z.string(),
  paths: z.array(z.string()),
}) satisfies z.ZodType<HermesProblems>;

export const clientMethod: ClientMethod = {
  register(app, { problems }) {
    app.onRequest(
      CLIENT_PROBLEMS.settled,
      params,
      async ({ params: { sessionId, watchId, paths }, signal }): Promise<HermesProblemsFound> => ({
        files: await problems.settled(`${sessionId} ${watchId}`, paths, signal),
      }),
    );
  },
};
