import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import { HOME_METHOD } from "../auth-methods.ts";
import { authRequired } from "../faults.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(methods.agent.authenticate, async ({ params }) => {
      if (params.methodId !== HOME_METHOD) {
        const problem = `methodId: there is no method ${JSON.stringify(params.methodId)} to be called; there is: ${HOME_METHOD}`;
        throw RequestError.invalidParams({ field: "methodId" }, problem);
      }
      await server.reconfigure();
      const model = server.directory.resolve(undefined);
      if (!model.ok) throw authRequired(model.message);
      return {};
    });
  },
};
