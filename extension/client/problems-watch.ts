import * as z from "zod";
import { CLIENT_PROBLEMS, type HermesProblemsWatch } from "../../agent-core/acp/meta/problems.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({ sessionId: z.string(), watchId: z.string() }) satisfies z.ZodType<HermesProblemsWatch>;

export const clientMethod: ClientMethod = {
  register(app, { problems }) {
    app.onRequest(CLIENT_PROBLEMS.watch, params, ({ params: { sessionId, watchId } }) => {
      problems.watch(`${sessionId} ${watchId}`);
      return {};
    });
  },
};
