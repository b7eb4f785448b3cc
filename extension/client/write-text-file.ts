import { methods, RequestError } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import { WRITE_CONFLICT } from "../../agent-core/acp/meta.ts";
import { findDocument } from "../documents/find-document.ts";
import { minimalEdit } from "../documents/minimal-edit.ts";
import type { ClientMethod } from "./client-method.ts";

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
  register(app, { edited }) {
    app.onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      const { path, content } = params;
      if (!vscode.workspace.isTrusted) throw refused(path, "the workspace is not trusted");
      const expected = metaSchema.safeParse(params._meta).data?.hermes.expected;
      const before = await writeText(path, content, expected);
      edited({ path, before, after: content });
      return {};
    });
  },
};

/** Gives the text that was there before; null for a new file. */
async function writeText(path: string, content: string, expected: Expected | undefined): Promise<string | null> {
  const uri = vscode.Uri.file(path);
  if (findDocument(path) === undefined && !(await exists(uri))) {
    if (expected?.kind === "text") throw conflict(`${path} is gone by now`);
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(content));
    return null;
  }
  const document = findDocument(path) ?? (await vscode.workspace.openTextDocument(uri));
  const wasDirty = document.isDirty;
  // A clean document may not have heard yet that a command changed the file.
  if (!wasDirty && !document.isUntitled) await catchUp(document);
  const before = document.getText();
  if (expected?.kind === "absent") throw conflict(`${path} exists by now`);
  // A document has one kind of line end only, whatever the file has.
  if (expected?.kind === "text" && inEndingsOf(document, expected.text) !== before) {
    throw conflict(`${path} has changed since it was read`);
  }
  const edit = minimalEdit(before, inEndingsOf(document, content));
  if (edit === undefined) return before;
  const change = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(edit.start), document.positionAt(edit.end));
  change.replace(document.uri, range, edit.text);
  if (!(await vscode.workspace.applyEdit(change))) throw refused(path, "VS Code did not apply the edit");
  if (!wasDirty && !document.isUntitled && !(await document.save())) {
    throw refused(path, "it was changed in the editor, but could not be saved");
  }
  return before;
}

/** Reloads a clean document whose file says something else. */
async function catchUp(document: vscode.TextDocument): Promise<void> {
  const bytes = await vscode.workspace.fs.readFile(document.uri);
  const onDisk = await vscode.workspace.decode(bytes, { uri: document.uri });
  const edit = minimalEdit(document.getText(), onDisk);
  if (edit === undefined) return;
  const change = new vscode.WorkspaceEdit();
  change.replace(
    document.uri,
    new vscode.Range(document.positionAt(edit.start), document.positionAt(edit.end)),
    edit.text,
  );
  await vscode.workspace.applyEdit(change);
}

function inEndingsOf({ eol }: vscode.TextDocument, text: string): string {
  return text.replace(/\r\n|\n/g, eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false; // nothing there, or nothing that can be seen: the write will say
  }
}

function conflict(what: string): RequestError {
  return new RequestError(WRITE_CONFLICT, `${what}; read it again`);
}

function refused(path: string, why: string): RequestError {
  return RequestError.internalError({ path }, `${path} was not written: ${why}`);
}
