/** A file's text without opening it: unsaved text where there is some, else what the disk has. */
import * as vscode from "vscode";
import { findDocument } from "./find-document.ts";

/** Null when nothing is there. Rejects when it cannot be read. A document without changes may lag behind the disk. */
export async function readText(path: string): Promise<string | null> {
  const document = findDocument(path);
  if (document !== undefined && (document.isDirty || document.isUntitled)) return document.getText();
  const uri = vscode.Uri.file(path);
  try {
    return await vscode.workspace.decode(await vscode.workspace.fs.readFile(uri), { uri });
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return null;
    throw error;
  }
}
