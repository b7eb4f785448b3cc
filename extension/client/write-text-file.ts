import { methods, type WriteTextFileResponse } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import type { HermesWriteResult } from "../../agent-core/protocol/files.ts";
import { type ExpectedEdit, expectedEdit, expectedSchema, writeError } from "../documents/expected-edit.ts";
import { readNow, writeNow } from "../documents/write-document.ts";
import type { ClientMethod, ClientServices } from "./client-method.ts";

const metaSchema = z.object({ hermes: z.object({ expected: expectedSchema }) });

/** Edits go through documents, so that they can be undone and never pass over what the user has typed. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileQueue, problems }) {
    app.onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted) throw writeError(path, "the workspace is not trusted");
      const expected = metaSchema.safeParse(params._meta).data?.hermes.expected;
      try {
        return await fileQueue.run(path, async () => {
          const edit = expectedEdit(await readNow(path), path, content, expected);
          return writeReviewed(edit, { editReview, problems }, signal);
        });
      } catch (error) {
        throw writeError(path, error);
      }
    });
  },
};

async function writeReviewed(
  edit: ExpectedEdit<string>,
  { editReview: review, problems }: Pick<ClientServices, "editReview" | "problems">,
  signal: AbortSignal,
): Promise<WriteTextFileResponse> {
  const { path, before, after } = edit;
  const verdict = await review.verdict(edit, signal);
  problems.writing();
  if (verdict.kind === "after") {
    await review.landing(edit, () => writeNow(path, before, after));
    return {};
  }
  if (verdict.after !== verdict.before) await writeNow(path, verdict.before, verdict.after);
  const { kept, undone } = verdict;
  const hermes: HermesWriteResult = {
    review: { text: verdict.after, before: verdict.before, kept, rejected: undone },
  };
  return { _meta: { hermes } };
}
