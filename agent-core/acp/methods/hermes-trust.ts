import * as z from "zod";
import { settingsMethods } from "../../protocol/settings.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(settingsMethods.trust.name, z.object({}), () => {
      server.trust();
      return {};
    });
  },
};
