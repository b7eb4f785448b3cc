import * as vscode from "vscode";
import * as z from "zod";
import { fileMethods, type HermesRemove, type HermesWriteResult } from "../../agent-core/protocol/files.ts";
import { expectedEdit, writeError } from "../documents/expected-edit.ts";
import { readNow, writeNow } from "../documents/write-document.ts";
import type { AgentEdit, ClientMethod, ClientServices } from "./client-method.ts";

const params = z.object({
  sessionId: z.string(),
  path: z.string(),
  expected: z.string(),
}) satisfies z.ZodType<HermesRemove>;

type Removed = { readonly _meta?: { readonly hermes: HermesWriteResult } };

/** A file that the agent removes goes through VS Code, so that this can be undone, and is reviewed like an edit. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileQueue, problems }) {
    app.onRequest(fileMethods.remove.name, params, async ({ params: { path, expected }, signal }) => {
      try {
        if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
        return await fileQueue.run(path, async () => {
          const { before } = expectedEdit(await readNow(path), path, null, { kind: "text", text: expected });
          return remove({ path, before: before ?? "", after: null }, { editReview, problems }, signal);
        });
      } catch (error) {
        throw writeError(path, error, "removed");
      }
    });
  },
};

async function remove(
  edit: AgentEdit & { readonly before: string },
  { editReview: review, problems }: Pick<ClientServices, "editReview" | "problems">,
  signal: AbortSignal,
): Promise<Removed> {
  const { path, before } = edit;
  const verdict = await review.verdict(edit, signal);
  problems.writing();
  if (verdict.kind === "after") {
    await review.landing(edit, () => writeNow(path, before, null));
    return {};
  }
  // Lines that the user keeps keep their file.
  const after = verdict.after === "" ? null : verdict.after;
  if (after !== verdict.before) await writeNow(path, verdict.before, after);
  return {
    _meta: {
      hermes: { review: { text: after, before: verdict.before, kept: verdict.kept, rejected: verdict.undone } },
    },
  };
}
