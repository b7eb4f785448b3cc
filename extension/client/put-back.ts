import * as vscode from "vscode";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { answerOf, expectedText, writeError } from "../documents/expected-edit.ts";
import type { ClientMethod } from "./client-method.ts";

/** An earlier text goes through the document, so that Ctrl+Z works; the user asked for it, so it is not up for review. */
export const clientMethod: ClientMethod = {
  register(app, { editReview }) {
    const { name, params } = fileMethods.putBack;
    app.onRequest(name, params, async ({ params: { path, text, expected } }) => {
      if (!vscode.workspace.isTrusted) throw writeError(path, "the workspace is not trusted");
      try {
        return answerOf({ written: await editReview.revert({ path, expected: expectedText(expected), after: text }) });
      } catch (error) {
        throw writeError(path, error);
      }
    });
  },
};
