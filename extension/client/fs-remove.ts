import * as vscode from "vscode";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { answerOf, writeError } from "../documents/expected-edit.ts";
import type { ClientMethod } from "./client-method.ts";

/** A file that the agent removes goes through VS Code, so that this can be undone, and is reviewed like an edit. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, problems }) {
    const { name, params } = fileMethods.remove;
    app.onRequest(name, params, async ({ params: { path, expected }, signal }) => {
      try {
        if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
        return answerOf(await editReview.write({ path, expected, after: null }, signal, () => problems.writing()));
      } catch (error) {
        throw writeError(path, error, "removed");
      }
    });
  },
};
