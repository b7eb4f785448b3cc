import * as z from "zod";
import { LM_LIST } from "../../agent-core/acp/meta/editor-models.ts";
import { listEditorModels } from "../models/editor-models.ts";
import type { ClientMethod } from "./client-method.ts";

export const clientMethod: ClientMethod = {
  register(app) {
    app.onRequest(LM_LIST, z.unknown(), listEditorModels);
  },
};
