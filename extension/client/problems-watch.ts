import * as z from "zod";
import { type HermesProblemsWatch, problemMethods } from "../../agent-core/protocol/problems.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({ sessionId: z.string(), watchId: z.string() }) satisfies z.ZodType<HermesProblemsWatch>;

export const clientMethod: ClientMethod = {
  register(app, { problems }) {
    app.onRequest(problemMethods.watch.name, params, ({ params: { sessionId, watchId } }) => {
      problems.watch(`${sessionId} ${watchId}`);
      return {};
    });
  },
};
