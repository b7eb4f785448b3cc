import * as vscode from "vscode";
import * as z from "zod";
import { fileMethods, type HermesMove } from "../../agent-core/protocol/files.ts";
import { expectedEdit, writeError } from "../documents/expected-edit.ts";
import { readNow } from "../documents/write-document.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({
  sessionId: z.string(),
  from: z.string(),
  to: z.string(),
  expected: z.string(),
}) satisfies z.ZodType<HermesMove>;

/** Open editors and what is up for review move along with their file. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileQueue, problems }) {
    app.onRequest(fileMethods.rename.name, params, async ({ params: { from, to, expected } }) => {
      try {
        if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
        await fileQueue.run(from, async () => {
          expectedEdit(await readNow(from), from, null, { kind: "text", text: expected });
          problems.writing();
          await editReview.moving(from, to, () => move(from, to));
        });
        return {};
      } catch (error) {
        throw writeError(from, error, "moved");
      }
    });
  },
};

/** Never over anything that stands there. */
async function move(from: string, to: string): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.renameFile(vscode.Uri.file(from), vscode.Uri.file(to), { overwrite: false });
  if (!(await vscode.workspace.applyEdit(change))) throw new Error(`VS Code did not move it to ${to}`);
}
