/** A file's text without opening it: unsaved text where there is some, otherwise the disk's. */
import { isAscii } from "node:buffer";
import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import { hasCode } from "../../agent-core/platform/errors.ts";
import { notebookText, unsavedNotebook } from "./notebooks.ts";

/** Null when nothing is there. Rejects when it cannot be read. A document without changes may lag behind the disk. */
export async function readText(path: string): Promise<string | null> {
  const unsaved = unsavedText(path);
  if (unsaved !== undefined) return unsaved;
  const notebook = unsavedNotebook(path);
  if (notebook !== undefined) return notebookText(notebook);
  const uri = vscode.Uri.file(path);
  try {
    return await textOnDisk(uri);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

/**
 * The disk's text of a file, in the encoding that VS Code takes it for. Rejects when it cannot be read. Each request to VS
 * Code waits for its window, so plain text is read without any.
 */
export async function textOnDisk(uri: vscode.Uri): Promise<string> {
  const bytes = await readFile(uri.fsPath);
  return isAscii(bytes) && !bytes.includes(0) ? bytes.toString("latin1") : vscode.workspace.decode(bytes, { uri });
}

/** True for a document or a notebook with unsaved changes. */
export function isUnsaved(path: string): boolean {
  return unsavedText(path) !== undefined || unsavedNotebook(path) !== undefined;
}

/** Text of a document with unsaved changes; undefined when the file has none. */
function unsavedText(path: string): string | undefined {
  const document = findDocument(path);
  return document !== undefined && (document.isDirty || document.isUntitled) ? document.getText() : undefined;
}

/** The open document of a file, or the untitled one that will be saved there. */
export function findDocument(path: string): vscode.TextDocument | undefined {
  const { fsPath } = vscode.Uri.file(path);
  return vscode.workspace.textDocuments.find(
    ({ uri }) => uri.fsPath === fsPath && (uri.scheme === "file" || uri.scheme === "untitled"),
  );
}

/** Texts in the tabs of all groups. */
export function textTabs(): readonly { readonly uri: vscode.Uri; readonly isDirty: boolean }[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) =>
    tabs.flatMap(({ input, isDirty }) => (input instanceof vscode.TabInputText ? [{ uri: input.uri, isDirty }] : [])),
  );
}
