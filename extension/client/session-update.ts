import { methods } from "@zed-industries/agent-client-protocol";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app, { sessionUpdate }) {
    app.onNotification(methods.client.session.update, ({ params }) => sessionUpdate(params));
  },
};
