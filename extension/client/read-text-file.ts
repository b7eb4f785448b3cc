import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { findDocument } from "../documents/find-document.ts";
import type { ClientMethod } from "./client-method.ts";

/** Unsaved text is what the agent reads; a document without changes may lag behind the disk, so the disk is read. */
export const clientMethod: ClientMethod = {
  register(app) {
    app.onRequest(methods.client.fs.readTextFile, async ({ params }) => {
      const text = await readText(params.path);
      const { line, limit } = params;
      if (line == null && limit == null) return { content: text };
      const from = Math.max(0, (line ?? 1) - 1);
      const lines = text.split("\n").slice(from, limit == null ? undefined : from + limit);
      return { content: lines.join("\n") };
    });
  },
};

async function readText(path: string): Promise<string> {
  const document = findDocument(path);
  if (document !== undefined && (document.isDirty || document.isUntitled)) return document.getText();
  try {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(path));
    return await vscode.workspace.decode(bytes, { uri: vscode.Uri.file(path) });
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") {
      throw RequestError.resourceNotFound(path);
    }
    throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error));
  }
}
