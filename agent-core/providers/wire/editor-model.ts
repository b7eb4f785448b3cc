/** A model of the editor. The editor sends the request and returns the answer. */
import { defineWire } from "./wire.ts";

export const wire = defineWire({
  mode: "editor_model",
  stream(request, signal) {
    if (request.editorModels === undefined) throw new Error("this editor offers no models");
    return request.editorModels.stream(request, signal);
  },
});
