import * as z from "zod";
import { editorModelMethods } from "../../agent-core/protocol/editor-models.ts";
import { listEditorModels } from "../models/editor-models.ts";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app) {
    app.onRequest(editorModelMethods.list.name, z.unknown(), listEditorModels);
  },
};
