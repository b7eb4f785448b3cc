import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { messageOf } from "../../platform/errors.ts";
import { type HermesRename, sessionMethods } from "../../protocol/sessions.ts";
import { titleLine } from "../../sessions/titles.ts";
import { paramsOf } from "../params-of.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  title: z.string().transform(titleLine).pipe(z.string().min(1).max(300)),
}) satisfies z.ZodType<HermesRename>;

export const method: Method = {
  register(app, server) {
    app.onRequest(sessionMethods.rename.name, paramsOf(params), async ({ params: { sessionId, title } }) => {
      const open = server.findSession(sessionId);
      if (open !== undefined) open.agent.setTitle(title);
      else
        await server.renameStored(sessionId, title).catch((error: unknown) => {
          throw error instanceof RequestError ? error : RequestError.internalError(undefined, messageOf(error));
        });
      return {};
    });
  },
};
