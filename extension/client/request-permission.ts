import { methods } from "@zed-industries/agent-client-protocol";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app, { requests }) {
    app.onRequest(methods.client.session.requestPermission, async ({ params, signal }) => ({
      outcome: await requests.permission(params, signal),
    }));
  },
};
