/** Guarded change of a file through its document: undoable, and refused where the file holds another text than expected. */

import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { Deadline, waitForEvent } from "../../agent-core/platform/deadline.ts";
import { differsInLineEndsOnly, normalised } from "./line-ends.ts";
import { notebookText, unsavedNotebook, writeNotebook } from "./notebooks.ts";
import { findDocument, textOnDisk } from "./read-text.ts";

/** Time limit for VS Code to reload a document after a command changed its file. */
const RELOAD_LIMIT_MS = 2_000;
/** Time limit for another save of the same document. */
const SAVE_LIMIT_MS = 2_000;
/** A document that has just been saved emits no more events: the disk is read again after this time. */
const CHECK_MS = 200;
/**
 * Within this time after a command wrote a file, VS Code may know its new text but not yet its size and date, and would
 * refuse to save over it.
 */
const SETTLE_MS = 500;
const SURROGATE = /[\ud800-\udfff]/;
export const BYTE_ORDER_MARK = "\ufeff";

/** Modification time of each document's file after our last save. */
const savedAt = new WeakMap<vscode.TextDocument, number>();

/** The file holds another text than the change was made for; `present` null: there is no file. */
export class ConflictError extends Error {
  readonly present: string | null;

  constructor(message: string, present: string | null) {
    super(message);
    this.present = present;
  }
}

/** Null: no file. `expected` undefined accepts any text. */
export type GuardedEdit = {
  readonly path: string;
  readonly expected: string | null | undefined;
  readonly after: string | null;
};

/** Texts of a file before and after a change, in its own line ends; null: no file. */
export type FileEdit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** Text that the file shows after a change. `isSaved` is undefined when the disk has it in another encoding than UTF-8. */
export type WrittenFile = { readonly text: string | null; readonly isSaved: boolean | undefined };

type Place =
  | { readonly kind: "absent" }
  | { readonly kind: "document"; readonly document: vscode.TextDocument }
  /**
   * The disk has the file's real text: VS Code has not reloaded the unchanged document (it does not watch the file), or
   * shows several kinds of line ends as one and would save them so. The JSON of a notebook is here, too: a formatter would
   * rewrite it on saving, and notebook editors show the disk's text.
   */
  | { readonly kind: "disk"; readonly text: string }
  | { readonly kind: "notebook"; readonly notebook: vscode.NotebookDocument; readonly text: string };

/**
 * Changes a file that holds `expected` with the smallest edit, and saves where there were no unsaved changes. `begin` is
 * called when the text is found to be the expected one, right before the change.
 * @throws ConflictError when the file holds anything else; Error when VS Code refuses.
 */
export async function applyGuardedEdit(guarded: GuardedEdit, begin?: (edit: FileEdit) => void): Promise<WrittenFile> {
  const { path } = guarded;
  const place = await openPlace(path);
  const edit = editAt(place, guarded);
  const { before, after } = edit;
  begin?.(edit);
  const uri = vscode.Uri.file(path);
  if (after === null) {
    if (before !== null) await deleteFile(uri);
    return { text: null, isSaved: true };
  }
  if (place.kind === "document") return writeDocument(place.document, after);
  if (place.kind === "notebook") return { text: await writeNotebook(place.notebook, after), isSaved: false };
  if (place.kind === "disk" && before !== after) await writeDisk(uri, after);
  if (place.kind === "absent") await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(after));
  return { text: after, isSaved: true };
}

/**
 * The change in the file's line ends, if it were made now.
 * @throws ConflictError
 */
export async function expectedEdit(guarded: GuardedEdit): Promise<FileEdit> {
  return editAt(await openPlace(guarded.path), guarded);
}

/** Text of the file now; null: there is none. */
export async function presentText(path: string): Promise<string | null> {
  return textOf(await openPlace(path));
}

/** Compares the file's text with the expected text. No other code does, so that all edits have the same rules. */
function editAt(place: Place, { path, expected, after }: GuardedEdit): FileEdit {
  const before = textOf(place);
  const inEndings = (text: string): string => (place.kind === "document" ? inEndingsOf(place.document, text) : text);
  if (expected === null && before !== null) throw new ConflictError(`${path} already exists`, before);
  if (typeof expected === "string" && before === null) throw new ConflictError(`${path} no longer exists`, null);
  if (typeof expected === "string" && inEndings(expected) !== before) {
    throw new ConflictError(`${path} has changed since it was read`, before);
  }
  return { path, before, after: after === null ? null : inEndings(after) };
}

function textOf(place: Place): string | null {
  switch (place.kind) {
    case "absent":
      return null;
    case "disk":
    case "notebook":
      return place.text;
    case "document":
      return place.document.getText();
  }
}

async function openPlace(path: string): Promise<Place> {
  const open = findDocument(path);
  const uri = vscode.Uri.file(path);
  if (open !== undefined && (open.isDirty || open.isUntitled)) return { kind: "document", document: open };
  const notebook = unsavedNotebook(path);
  if (notebook !== undefined) return { kind: "notebook", notebook, text: await notebookText(notebook) };
  // An unchanged document may outlive its file.
  if (!(await exists(uri))) return { kind: "absent" };
  if (open !== undefined) await settled(open);
  return placeOf(open ?? (await vscode.workspace.openTextDocument(uri)));
}

async function settled(document: vscode.TextDocument): Promise<void> {
  const { mtime } = await vscode.workspace.fs.stat(document.uri);
  const age = Date.now() - mtime;
  if (savedAt.get(document) !== mtime && age >= 0 && age < SETTLE_MS) await delay(SETTLE_MS - age);
}

/** Waits until VS Code has reloaded an unchanged document, up to RELOAD_LIMIT_MS. */
async function placeOf(document: vscode.TextDocument): Promise<Place> {
  const { uri } = document;
  const deadline = new Deadline(RELOAD_LIMIT_MS);
  for (;;) {
    // Read again each time: the document may have been saved since.
    const onDisk = await textOnDisk(uri);
    if (!document.isDirty && uri.path.endsWith(".ipynb")) return { kind: "disk", text: onDisk };
    if (document.isDirty || document.getText() === onDisk) return { kind: "document", document };
    const isLate = deadline.hasPassed();
    if (isLate || differsInLineEndsOnly(document.getText(), onDisk)) return { kind: "disk", text: onDisk };
    await changeOf(document);
  }
}

/** Resolves when the document changes or is saved, or after CHECK_MS. */
function changeOf(document: vscode.TextDocument): Promise<boolean> {
  return waitForEvent(CHECK_MS, (done) => [
    vscode.workspace.onDidChangeTextDocument((change) => change.document === document && done()),
  ]);
}

async function writeDocument(document: vscode.TextDocument, text: string): Promise<WrittenFile> {
  const before = document.getText();
  const edit = minimalEdit(before, text);
  const wasDirty = document.isDirty;
  if (edit !== undefined && !(await apply(document, edit))) {
    throw new ConflictError(`${document.uri.fsPath} was being changed at the same moment`, document.getText());
  }
  // The user saves text that they have typed since the write.
  const isTheirs = wasDirty || document.isUntitled || document.getText() !== text;
  if (edit !== undefined && !isTheirs) {
    if (!(await save(document, before))) {
      const undoing = minimalEdit(document.getText(), before);
      if (undoing !== undefined) await apply(document, undoing);
      throw new Error("VS Code has it as read-only");
    }
    savedAt.set(document, (await vscode.workspace.fs.stat(document.uri)).mtime);
  }
  const isUtf8 = ["utf8", "utf8bom"].includes(document.encoding);
  if (document.isDirty || document.isUntitled) return { text: document.getText(), isSaved: false };
  return { text: document.getText(), isSaved: isUtf8 ? true : undefined };
}

/**
 * False when the document has changed in the meantime. VS Code minimises a workspace edit in a visible editor, even to half
 * of a surrogate pair, which breaks the character. Such an edit goes through the editor, which does not minimise it.
 */
async function apply(document: vscode.TextDocument, { start, end, text }: MinimalEdit): Promise<boolean> {
  const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
  const editor = vscode.window.visibleTextEditors.find((shown) => shown.document === document);
  if (editor !== undefined && SURROGATE.test(document.getText(range) + text)) {
    return editor.edit((change) => change.replace(range, text));
  }
  const change = new vscode.WorkspaceEdit();
  change.replace(document.uri, range, text);
  return vscode.workspace.applyEdit(change);
}

/**
 * False for a file that is read-only in VS Code, which still has the text `before`: a change of its document does not count
 * as unsaved, and is never saved.
 */
async function save(document: vscode.TextDocument, before: string): Promise<boolean> {
  const deadline = new Deadline(SAVE_LIMIT_MS);
  while (!(await document.save())) {
    // VS Code refuses this save while its own save runs, which then stores the same text.
    if (document.isDirty) await changeOf(document);
    if (!document.isDirty) return (await textOnDisk(document.uri)) !== before;
    if (deadline.hasPassed()) throw new Error("it was changed in the editor, but could not be saved");
  }
  return true;
}

async function writeDisk(uri: vscode.Uri, text: string): Promise<void> {
  const mark = (await hasMark(uri)) ? BYTE_ORDER_MARK : "";
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(mark + text));
}

/** True when a file begins with a byte order mark, which its text does not show. */
export async function hasMark(uri: vscode.Uri): Promise<boolean> {
  const bytes = await vscode.workspace.fs.readFile(uri);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, 3)) === BYTE_ORDER_MARK;
}

/** Moves the file to the bin on systems that have one. */
async function deleteFile(uri: vscode.Uri): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.deleteFile(uri, { ignoreIfNotExists: true });
  if (!(await vscode.workspace.applyEdit(change))) throw new Error("VS Code did not delete it");
}

function inEndingsOf({ eol }: vscode.TextDocument, text: string): string {
  return normalised(text, eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false; // absent or unreadable: the write reports it
  }
}

export type MinimalEdit = {
  /** Offsets into the old text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** Never cuts a CRLF or a surrogate pair in two. Undefined when the texts are equal. */
export function minimalEdit(before: string, after: string): MinimalEdit | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  while (start > 0 && splitsPair(before, start)) start -= 1;
  let tail = 0;
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  while (tail > 0 && (splitsPair(before, before.length - tail) || splitsPair(after, after.length - tail))) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

function splitsPair(text: string, at: number): boolean {
  const pair = text.slice(at - 1, at + 1);
  return pair === "\r\n" || /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair);
}
