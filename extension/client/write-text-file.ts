import { methods, type WriteTextFileResponse } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import type { HermesWriteResult } from "../../agent-core/acp/meta.ts";
import { refusedChange } from "../documents/refused-change.ts";
import { ConflictError, type FileNow, readNow, writeNow } from "../documents/write-document.ts";
import type { AgentEdit, ClientMethod, EditReview } from "./client-method.ts";

const metaSchema = z.object({
  hermes: z.object({
    expected: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("absent") }),
      z.object({ kind: z.literal("text"), text: z.string() }),
    ]),
  }),
});

type Expected = z.infer<typeof metaSchema>["hermes"]["expected"];

/** Edits go through documents, so that they can be undone and never pass over what the user has typed. */
export const clientMethod: ClientMethod = {
  register(app, { editReview, fileTurns }) {
    app.onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted)
        throw refusedChange(`${path} was not written`, new Error("the workspace is not trusted"));
      const expected = metaSchema.safeParse(params._meta).data?.hermes.expected;
      try {
        return await fileTurns.take(path, async () => {
          const edit = editOf(await readNow(path), path, content, expected);
          return writeReviewed(edit, editReview, signal);
        });
      } catch (error) {
        throw refusedChange(`${path} was not written`, error);
      }
    });
  },
};

type Write = AgentEdit & { readonly after: string };

function editOf({ text, inItsEndings }: FileNow, path: string, content: string, expected?: Expected): Write {
  if (expected?.kind === "absent" && text !== null) throw new ConflictError(`${path} exists by now`);
  if (expected?.kind === "text" && text === null) throw new ConflictError(`${path} is gone by now`);
  if (expected?.kind === "text" && inItsEndings(expected.text) !== text) {
    throw new ConflictError(`${path} has changed since it was read`);
  }
  return { path, before: text, after: inItsEndings(content) };
}

async function writeReviewed(edit: Write, review: EditReview, signal: AbortSignal): Promise<WriteTextFileResponse> {
  const { path, before, after } = edit;
  const verdict = await review.verdict(edit, signal);
  if (verdict.kind === "after") {
    await review.landing(edit, () => writeNow(path, before, after));
    return {};
  }
  if (verdict.after !== verdict.before) await writeNow(path, verdict.before, verdict.after);
  const { kept, undone } = verdict;
  const hermes: HermesWriteResult = { review: { text: verdict.after, kept, rejected: undone } };
  return { _meta: { hermes } };
}
