import { methods } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { HermesWriteMeta } from "../../agent-core/protocol/files.ts";
import { readMeta } from "../../agent-core/protocol/meta.ts";
import { answerOf, expectedText, writeError } from "../documents/expected-edit.ts";
import type { ClientMethod } from "./client-method.ts";

/** Edits go through documents, so that they can be undone and never overwrite what the user has typed. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, problems }) {
    app.onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted) throw writeError(path, "the workspace is not trusted");
      const meta = readMeta(HermesWriteMeta, params._meta);
      try {
        const edit = { path, expected: meta && expectedText(meta.expected), after: content };
        return answerOf(await editReview.write(edit, signal, () => problems.writing()));
      } catch (error) {
        throw writeError(path, error);
      }
    });
  },
};
