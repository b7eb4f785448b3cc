import * as z from "zod";
import { HERMES_METHODS } from "../meta/settings.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onRequest(HERMES_METHODS.trust, z.object({}), () => {
      server.trust();
      return {};
    });
  },
};
