/**
 * Guarded change of a file, refused where the file holds another text than expected. An open file changes through its
 * document, which makes the change undoable. A closed one changes on the disk: a document would wait for VS Code's window.
 */
import { mkdir, open, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { Deadline, waitForEvent } from "../../agent-core/platform/deadline.ts";
import { commonEnds, hunksBetween } from "../../agent-core/platform/hunks.ts";
import { rebaseHunks } from "../review/rebase-hunks.ts";
import { differsInLineEndsOnly, normalised } from "./line-ends.ts";
import { notebookText, unsavedNotebook, writeNotebook } from "./notebooks.ts";
import { findDocument, textOnDisk } from "./read-text.ts";

/** Time limit for VS Code to reload a document after a command changed its file. */
const RELOAD_LIMIT_MS = 2_000;
/** Time limit for an edit between the keys of a user who types in the file. */
const TYPING_LIMIT_MS = 30_000;
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

/** Modification time of each file after our last write; VS Code knows it. Milliseconds. */
const writtenAt = new Map<string, number>();

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
   * The disk has the file's real text: no document is open, VS Code has not reloaded the unchanged one (it does not watch
   * the file), or shows several kinds of line ends as one and would save them so. The JSON of a notebook is here, too: a formatter would
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
  if (after === null) {
    if (before !== null) await deleteFile(vscode.Uri.file(path));
    return { text: null, isSaved: true };
  }
  if (place.kind === "document") return writeDocument(place.document, after, begin);
  if (place.kind === "notebook") return { text: await writeNotebook(place.notebook, after), isSaved: false };
  if (before !== after) await writeDisk(path, after);
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
  const document = findDocument(path);
  const uri = vscode.Uri.file(path);
  if (document !== undefined && (document.isDirty || document.isUntitled)) return { kind: "document", document };
  const notebook = unsavedNotebook(path);
  if (notebook !== undefined) return { kind: "notebook", notebook, text: await notebookText(notebook) };
  // An unchanged document may outlive its file.
  const mtime = await modificationTime(path);
  if (mtime === undefined) return { kind: "absent" };
  if (document === undefined && !path.endsWith(".ipynb") && isSavedAsWritten(uri)) {
    return { kind: "disk", text: await textOnDisk(uri) };
  }
  const age = Date.now() - mtime;
  const isSettling = document !== undefined && writtenAt.get(path) !== mtime && age >= 0 && age < SETTLE_MS;
  if (isSettling) await delay(SETTLE_MS - age);
  return placeOf(document ?? (await vscode.workspace.openTextDocument(uri)));
}

/** Settings with which VS Code changes a file as it saves it, or refuses to save it. */
const SAVE_SETTINGS = [
  "editor.codeActionsOnSave",
  "editor.formatOnSave",
  "files.insertFinalNewline",
  "files.readonlyFromPermissions",
  "files.readonlyInclude",
  "files.trimFinalNewlines",
  "files.trimTrailingWhitespace",
];

/** False when VS Code would save a file with other bytes than its text in UTF-8, in any language. */
function isSavedAsWritten(uri: vscode.Uri): boolean {
  const settings = vscode.workspace.getConfiguration(undefined, uri);
  const languages = SAVE_SETTINGS.flatMap((name) => settings.inspect(name)?.languageIds ?? []);
  const scopes = [
    settings,
    ...languages.map((languageId) => vscode.workspace.getConfiguration(undefined, { uri, languageId })),
  ];
  return scopes.every(
    (scope) =>
      scope.get("files.encoding") === "utf8" &&
      SAVE_SETTINGS.every((name) => ["false", "{}", undefined].includes(JSON.stringify(scope.get(name)))),
  );
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

async function writeDocument(
  document: vscode.TextDocument,
  after: string,
  begin: ((edit: FileEdit) => void) | undefined,
): Promise<WrittenFile> {
  const { before, text, wasDirty } = await applyBetweenKeys(document, after, begin);
  // The user saves text that they have typed since the write.
  const isTheirs = wasDirty || document.isUntitled || document.getText() !== text;
  if (before !== text && !isTheirs) {
    if (!(await save(document, before))) {
      const undoing = minimalEdit(document.getText(), before);
      if (undoing !== undefined) await apply(document, undoing, false);
      throw new Error("VS Code has it as read-only");
    }
    await noteWritten(document.uri.fsPath);
  }
  const isUtf8 = ["utf8", "utf8bom"].includes(document.encoding);
  if (document.isDirty || document.isUntitled) return { text: document.getText(), isSaved: false };
  return { text: document.getText(), isSaved: isUtf8 ? true : undefined };
}

/** Texts around a change; `wasDirty`: there were unsaved changes before it. */
type Applied = { readonly before: string; readonly text: string; readonly wasDirty: boolean };

/** Applies a change, again for the present text whenever the user has typed in the same moment; `begin` gets each new change. */
async function applyBetweenKeys(
  document: vscode.TextDocument,
  after: string,
  begin: ((edit: FileEdit) => void) | undefined,
): Promise<Applied> {
  const { fsPath: path } = document.uri;
  const deadline = new Deadline(TYPING_LIMIT_MS);
  let text = after;
  /** Place of the keys since the last attempt. */
  let typedFrom = 0;
  for (;;) {
    const [before, wasDirty] = [document.getText(), document.isDirty];
    const edit = minimalEdit(before, text);
    if (edit === undefined) return { before, text, wasDirty };
    const isAboveKeys = document.positionAt(typedFrom).line > document.positionAt(edit.end).line + 1;
    const isApplied = await apply(document, edit, isAboveKeys);
    const present = document.getText();
    if (isApplied)
      return isAboveKeys ? appliedAboveKeys({ before, edit, wasDirty }, document, begin) : { before, text, wasDirty };
    typedFrom = present === before ? 0 : commonEnds(before, present).start;
    const rebased = rebaseHunks({ text, before, hunks: hunksBetween(text, before) }, present);
    if (!rebased.isComplete) throw new ConflictError(`the user types in ${path} where this edit changes it`, present);
    if (deadline.hasPassed()) throw new Error("the user types without a pause; try again");
    text = rebased.text;
    begin?.({ path, before: present, after: text });
  }
}

/** The change that a document got beside keys below it. Throws an Error when another change moved its place meanwhile. */
function appliedAboveKeys(
  { before, edit, wasDirty }: { readonly before: string; readonly edit: MinimalEdit; readonly wasDirty: boolean },
  document: vscode.TextDocument,
  begin: ((edit: FileEdit) => void) | undefined,
): Applied {
  const text = document.getText();
  const head = before.slice(0, edit.start) + edit.text;
  if (!text.startsWith(head)) throw new Error("another change came at the same moment; read the file again");
  const old = before.slice(0, edit.end) + text.slice(head.length);
  begin?.({ path: document.uri.fsPath, before: old, after: text });
  return { before: old, text, wasDirty };
}

/**
 * False when the document has changed in the meantime. In a window far away there is always a key on its way. Keys on
 * later lines leave the places before them as they are, so that an edit above them needs no comparison of versions: VS Code
 * makes none for a file that the same change would create. VS Code minimises a workspace edit in a visible editor, even to
 * half of a surrogate pair, which breaks the character. Such an edit goes through the editor, which does not minimise it.
 */
async function apply(
  document: vscode.TextDocument,
  { start, end, text }: MinimalEdit,
  isAboveKeys: boolean,
): Promise<boolean> {
  const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
  const editor = vscode.window.visibleTextEditors.find((shown) => shown.document === document);
  if (editor !== undefined && SURROGATE.test(document.getText(range) + text)) {
    return editor.edit((change) => change.replace(range, text));
  }
  const change = new vscode.WorkspaceEdit();
  if (isAboveKeys && !document.isUntitled) change.createFile(document.uri, { ignoreIfExists: true });
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

async function writeDisk(path: string, text: string): Promise<void> {
  const mark = (await hasMark(path)) ? BYTE_ORDER_MARK : "";
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, mark + text);
  // A document that is open reloads the text later.
  if (findDocument(path) === undefined) await noteWritten(path);
}

async function noteWritten(path: string): Promise<void> {
  writtenAt.set(path, (await modificationTime(path)) ?? 0);
}

/** True when a file begins with a byte order mark, which its text does not show. */
export async function hasMark(path: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined); // a new one
  try {
    const start = await file?.read(Buffer.alloc(3), 0, 3, 0);
    return start?.buffer.toString() === BYTE_ORDER_MARK;
  } finally {
    await file?.close();
  }
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

/** Undefined for a file that is absent or unreadable, which its write reports. */
async function modificationTime(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
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
  const ends = commonEnds(before, after);
  let [start, tail] = [ends.start, ends.end];
  while (start > 0 && splitsPair(before, start)) start -= 1;
  while (tail > 0 && (splitsPair(before, before.length - tail) || splitsPair(after, after.length - tail))) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

function splitsPair(text: string, at: number): boolean {
  const pair = text.slice(at - 1, at + 1);
  return pair === "\r\n" || /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair);
}
