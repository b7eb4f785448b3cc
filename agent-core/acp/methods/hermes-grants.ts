import { RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { type HermesGrants, type HermesRevoke, settingsMethods } from "../../protocol/settings.ts";
import type { Method } from "./method.ts";

const session = z.object({ sessionId: z.string() });
const revoke = z.object({ sessionId: z.string(), id: z.string() }) satisfies z.ZodType<HermesRevoke>;

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.grants.name, session, ({ params }): HermesGrants => {
      return { grants: server.session(params.sessionId).agent.grants.list() };
    });
    app.onRequest(settingsMethods.revokeGrant.name, revoke, ({ params: { sessionId, id } }) => {
      if (server.session(sessionId).agent.grants.revoke(id)) return {};
      throw RequestError.invalidParams({ field: "id" }, "id: nothing like it is granted");
    });
  },
};
