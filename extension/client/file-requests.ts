/** The agent's requests about files: read, write, remove, rename, revert. */
import { type ClientApp, methods, type ReadTextFileRequest, RequestError } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import {
  fileMethods,
  HermesReadMeta,
  type HermesReadResult,
  HermesWriteMeta,
} from "../../agent-core/protocol/files.ts";
import { onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { answerOf, expectedText, writeError } from "../documents/edit-protocol.ts";
import { isUnsaved, readText } from "../documents/read-text.ts";
import type { ClientServices } from "./client-services.ts";

/** Writes go through documents: the user can undo them, and they never overwrite typed text. */
export function registerFileRequests(app: ClientApp, { editReview, problems }: ClientServices): void {
  const writing = (): void => problems.writing();
  app.onRequest(methods.client.fs.readTextFile, ({ params }) => read(params));
  app.onRequest(methods.client.fs.writeTextFile, ({ params: { path, content, _meta }, signal }) =>
    guarded(async () => {
      const meta = readMeta(HermesWriteMeta, _meta);
      const edit = { path, expected: meta && expectedText(meta.expected), after: content };
      return answerOf(await editReview.write(edit, signal, writing));
    }),
  );
}

/** Changes that only Hermes asks for. */
export function registerFileChanges(app: ClientApp, { editReview, problems }: ClientServices): void {
  const writing = (): void => problems.writing();
  onAgentRequest(app, fileMethods.remove, ({ params: { path, expected }, signal }) =>
    guarded(async () => answerOf(await editReview.write({ path, expected, after: null }, signal, writing))),
  );
  onAgentRequest(app, fileMethods.rename, ({ params: { from, to, expected } }) =>
    guarded(async () => {
      writing();
      await editReview.move({ from, to, expected }, () => move(from, to));
      return {};
    }),
  );
  // The user asked for a revert, so it is not up for review.
  onAgentRequest(app, fileMethods.revert, ({ params: { path, text, expected } }) =>
    guarded(async () =>
      answerOf({ written: await editReview.revert({ path, expected: expectedText(expected), after: text }) }),
    ),
  );
}

/** Runs a change in a trusted workspace. Throws the protocol's error. */
async function guarded<Result>(change: () => Promise<Result>): Promise<Result> {
  try {
    if (!vscode.workspace.isTrusted) throw new Error("the workspace is not trusted");
    return await change();
  } catch (error) {
    throw writeError(error);
  }
}

/** Includes unsaved text. */
async function read({ path, line, limit, _meta }: ReadTextFileRequest) {
  const isUnsavedOnly = readMeta(HermesReadMeta, _meta) !== undefined;
  if (isUnsavedOnly && !isUnsaved(path)) {
    return { content: "", _meta: { hermes: { isSaved: true } satisfies HermesReadResult } };
  }
  const text = await readText(path).catch((error: unknown) => {
    throw RequestError.internalError(undefined, messageOf(error));
  });
  if (text === null) throw RequestError.resourceNotFound(path);
  if (line == null && limit == null) return { content: text };
  const from = Math.max(0, (line ?? 1) - 1);
  const lines = text.split("\n").slice(from, limit == null ? undefined : from + limit);
  return { content: lines.join("\n") };
}

/** Fails when the new path exists. */
async function move(from: string, to: string): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.renameFile(vscode.Uri.file(from), vscode.Uri.file(to), { overwrite: false });
  if (!(await vscode.workspace.applyEdit(change))) throw new Error(`VS Code did not move it to ${to}`);
}
