import { methods } from "@zed-industries/agent-client-protocol";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app, { requests }) {
    app.onRequest(methods.client.elicitation.create, ({ params, signal }) => requests.question(params, signal));
  },
};
