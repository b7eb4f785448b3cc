import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { messageOf } from "../../platform/errors.ts";
import { type HermesImport, type HermesImported, sessionMethods } from "../../protocol/sessions.ts";
import { paramsOf } from "../params-of.ts";
import type { Method } from "./method.ts";

const params = z.object({
  path: z.string().min(1).exactOptional(),
  again: z.boolean().exactOptional(),
}) satisfies z.ZodType<HermesImport>;

export const method: Method = {
  register(app, server) {
    const name = sessionMethods.import.name;
    app.onRequest(name, paramsOf(params), async ({ params: request, signal }): Promise<HermesImported> => {
      try {
        return await server.importSessions(request, signal);
      } catch (error) {
        throw RequestError.internalError(undefined, messageOf(error));
      }
    });
  },
};
