import * as z from "zod";
import { LM_CHANGED } from "../meta/editor-models.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onNotification(LM_CHANGED, z.unknown(), () => server.directory.discover());
  },
};
