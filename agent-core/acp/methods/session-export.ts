import * as z from "zod";
import { type HermesExport, type HermesExported, sessionMethods } from "../../protocol/sessions.ts";
import { exportName, exportSession } from "../../sessions/export-session.ts";
import { paramsOf } from "../params-of.ts";
import type { Method } from "./method.ts";

const params = z.object({
  sessionId: z.string(),
  format: z.enum(["markdown", "json"]),
}) satisfies z.ZodType<HermesExport>;

export const method: Method = {
  register(app, server) {
    const name = sessionMethods.export.name;
    app.onRequest(name, paramsOf(params), async ({ params: { sessionId, format } }): Promise<HermesExported> => {
      const stored = await server.readStored(sessionId);
      return { text: await exportSession(stored, format), fileName: exportName(stored, format) };
    });
  },
};
