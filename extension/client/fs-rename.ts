import * as vscode from "vscode";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { writeError } from "../documents/expected-edit.ts";
import type { ClientMethod } from "./client-method.ts";

/** Open editors and what is up for review move along with their file. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, problems }) {
    const { name, params } = fileMethods.rename;
    app.onRequest(name, params, async ({ params: { from, to, expected } }) => {
      try {
        if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
        problems.writing();
        await editReview.move({ from, to, expected }, () => move(from, to));
        return {};
      } catch (error) {
        throw writeError(from, error, "moved");
      }
    });
  },
};

/** Refused where anything is at the new path. */
async function move(from: string, to: string): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.renameFile(vscode.Uri.file(from), vscode.Uri.file(to), { overwrite: false });
  if (!(await vscode.workspace.applyEdit(change))) throw new Error(`VS Code did not move it to ${to}`);
}
