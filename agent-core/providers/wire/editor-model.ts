/** A model that the editor offers: the editor itself asks it, and passes the answer on. */
import { defineWire } from "./wire.ts";

export const wire = defineWire({
  mode: "editor_model",
  stream(request, signal) {
    if (request.editorModels === undefined) throw new Error("this editor offers no models");
    return request.editorModels.stream(request, signal);
  },
});
