import * as z from "zod";
import { editorModelMethods } from "../../protocol/editor-models.ts";
import type { Method } from "./method.ts";

export const method: Method = {
  register(app, server) {
    app.onNotification(editorModelMethods.changed.name, z.unknown(), () => server.directory.discover());
  },
};
