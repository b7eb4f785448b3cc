import { methods, type WriteTextFileResponse } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import type { HermesWriteResult } from "../../agent-core/acp/meta.ts";
import { expectedEdit, expectedSchema, writeError } from "../documents/expected-edit.ts";
import { readNow, writeNow } from "../documents/write-document.ts";
import type { AgentEdit, ClientMethod, EditReview } from "./client-method.ts";

const metaSchema = z.object({ hermes: z.object({ expected: expectedSchema }) });

/** Edits go through documents, so that they can be undone and never pass over what the user has typed. */
export const clientMethod: ClientMethod = {
  register(app, { editReview }) {
    /** The last write of each path: the next one must see what it left. */
    const writes = new Map<string, Promise<unknown>>();
    app.onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted) throw writeError(path, "the workspace is not trusted");
      const expected = metaSchema.safeParse(params._meta).data?.hermes.expected;
      const previous = writes.get(path) ?? Promise.resolve();
      const write = previous.then(async () => {
        const edit = expectedEdit(await readNow(path), path, content, expected);
        return writeReviewed(edit, editReview, signal);
      });
      const settled = write.then(
        () => undefined,
        () => undefined, // told below, to the agent
      );
      writes.set(path, settled);
      try {
        return await write;
      } catch (error) {
        throw writeError(path, error);
      } finally {
        if (writes.get(path) === settled) writes.delete(path);
      }
    });
  },
};

async function writeReviewed(edit: AgentEdit, review: EditReview, signal: AbortSignal): Promise<WriteTextFileResponse> {
  const { path, before, after } = edit;
  const verdict = await review.verdict(edit, signal);
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
