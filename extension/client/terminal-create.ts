import { methods } from "@zed-industries/agent-client-protocol";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app, { terminals }) {
    app.onRequest(methods.client.terminal.create, ({ params }) => terminals.create(params));
  },
};
