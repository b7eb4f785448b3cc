import * as z from "zod";
import { type HermesEarlierPage, type HermesEarlierRequest, sessionMethods } from "../../protocol/sessions.ts";
import { paramsOf } from "../params-of.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  before: z.int().min(0),
  messages: z.int().min(1).exactOptional(),
}) satisfies z.ZodType<HermesEarlierRequest>;

/** A page of what was said before the part of a session that its client has. Allowed while a turn runs. */
export const method: Method = {
  register(app, server) {
    const { earlier } = sessionMethods;
    app.onRequest(
      earlier.name,
      paramsOf(params),
      ({ params: { sessionId, ...page }, signal }): Promise<HermesEarlierPage> => {
        return server.session(sessionId).earlier.page({ ...page, signal });
      },
    );
  },
};
