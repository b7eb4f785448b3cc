import { methods, RequestError, type WriteTextFileResponse } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import { type HermesWriteResult, WRITE_CONFLICT } from "../../agent-core/acp/meta.ts";
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
  register(app, { editReview }) {
    /** The last write of each path: the next one must see what it left. */
    const writes = new Map<string, Promise<unknown>>();
    app.onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted) throw refused(path, "the workspace is not trusted");
      const expected = metaSchema.safeParse(params._meta).data?.hermes.expected;
      const previous = writes.get(path) ?? Promise.resolve();
      const write = previous.then(async () => {
        const edit = editOf(await readNow(path), path, content, expected);
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
        throw explained(path, error);
      } finally {
        if (writes.get(path) === settled) writes.delete(path);
      }
    });
  },
};

function editOf({ text, inItsEndings }: FileNow, path: string, content: string, expected?: Expected): AgentEdit {
  if (expected?.kind === "absent" && text !== null) throw new ConflictError(`${path} exists by now`);
  if (expected?.kind === "text" && text === null) throw new ConflictError(`${path} is gone by now`);
  if (expected?.kind === "text" && inItsEndings(expected.text) !== text) {
    throw new ConflictError(`${path} has changed since it was read`);
  }
  return { path, before: text, after: inItsEndings(content) };
}

async function writeReviewed(edit: AgentEdit, review: EditReview, signal: AbortSignal): Promise<WriteTextFileResponse> {
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

function explained(path: string, error: unknown): RequestError {
  if (error instanceof ConflictError) return new RequestError(WRITE_CONFLICT, `${error.message}; read it again`);
  return refused(path, error instanceof Error ? error.message : String(error));
}

function refused(path: string, why: string): RequestError {
  return RequestError.internalError({ path }, `${path} was not written: ${why}`);
}
