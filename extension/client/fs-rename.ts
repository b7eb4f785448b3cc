import * as vscode from "vscode";
import * as z from "zod";
import { CLIENT_FILES, type HermesMove } from "../../agent-core/acp/meta.ts";
import { refusedChange } from "../documents/refused-change.ts";
import { ConflictError, readNow } from "../documents/write-document.ts";
import type { ClientMethod } from "./client-method.ts";

const params = z.object({
  sessionId: z.string(),
  from: z.string(),
  to: z.string(),
  expected: z.string(),
}) satisfies z.ZodType<HermesMove>;

/** Open editors and what is up for review move along with their file. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileTurns }) {
    app.onRequest(CLIENT_FILES.rename, params, async ({ params: { from, to, expected } }) => {
      try {
        if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
        await fileTurns.take(from, async () => {
          const { text, inItsEndings } = await readNow(from);
          if (text === null) throw new ConflictError(`${from} is gone by now`);
          if (inItsEndings(expected) !== text) throw new ConflictError(`${from} has changed since it was read`);
          await editReview.moving(from, to, () => move(from, to));
        });
        return {};
      } catch (error) {
        throw refusedChange(`${from} was not moved`, error);
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
