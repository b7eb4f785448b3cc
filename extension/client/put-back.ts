import * as vscode from "vscode";
import * as z from "zod";
import { fileMethods, type HermesPutBack } from "../../agent-core/protocol/files.ts";
import { expectedEdit, expectedSchema, writeError } from "../documents/expected-edit.ts";
import { readNow, writeNow } from "../documents/write-document.ts";
import type { ClientMethod } from "./client-method.ts";

const params: z.ZodType<HermesPutBack> = z.object({
  sessionId: z.string(),
  path: z.string(),
  text: z.string().nullable(),
  expected: expectedSchema,
});

/** An earlier text comes back through the document, so that Ctrl+Z works; it is the user's wish and not up for review. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileQueue }) {
    app.onRequest(fileMethods.putBack.name, params, async ({ params: { path, text, expected } }) => {
      if (!vscode.workspace.isTrusted) throw writeError(path, "the workspace is not trusted");
      try {
        await fileQueue.run(path, async () => {
          const { before, after } = expectedEdit(await readNow(path), path, text, expected);
          if (before !== after) await editReview.puttingBack(path, after, () => writeNow(path, before, after));
        });
      } catch (error) {
        throw writeError(path, error);
      }
      return {};
    });
  },
};
