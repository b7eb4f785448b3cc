/** A file's text without opening it: unsaved text where there is some, otherwise the disk's. */
import * as vscode from "vscode";
import { findDocument } from "./find-document.ts";

/** Null when nothing is there. Rejects when it cannot be read. A document without changes may lag behind the disk. */
export async function readText(path: string): Promise<string | null> {
  const unsaved = unsavedText(path);
  if (unsaved !== undefined) return unsaved;
  const uri = vscode.Uri.file(path);
  try {
    return await vscode.workspace.decode(await vscode.workspace.fs.readFile(uri), { uri });
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return null;
    throw error;
  }
}

/** Text of a document with unsaved changes; undefined when the file has none. */
export function unsavedText(path: string): string | undefined {
  const document = findDocument(path);
  return document !== undefined && (document.isDirty || document.isUntitled) ? document.getText() : undefined;
}
