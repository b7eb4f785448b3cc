/** Which edits of the agent are up for review: a baseline and the present text of each file it changed. */
import * as vscode from "vscode";
import type { ReviewedFile } from "../../webview/panel-protocol.ts";
import type { AgentEdit } from "../client/client-method.ts";
import { findDocument } from "../documents/find-document.ts";
import { minimalEdit } from "../documents/minimal-edit.ts";
import { followTyping, type Hunk, hunksBetween, keepHunk, undoHunk } from "./hunks.ts";
import type { ReviewedText, ReviewStore } from "./review-store.ts";

export class Review implements vscode.Disposable {
  readonly #files = new Map<string, ReviewedText>();
  readonly #store: ReviewStore;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #typing: vscode.Disposable;

  readonly onDidChange = this.#changed.event;

  constructor(store: ReviewStore) {
    this.#store = store;
    this.#typing = vscode.workspace.onDidChangeTextDocument(({ document }) => this.#textChanged(document));
  }

  /** Takes up what an earlier window left. */
  async restore(): Promise<void> {
    for (const reviewed of await this.#store.load())
      if (!this.#files.has(reviewed.path)) this.#files.set(reviewed.path, reviewed);
    this.#changed.fire();
  }

  get files(): readonly ReviewedFile[] {
    return [...this.#files.values()].map(({ path, baseline, present }) => {
      const hunks = hunksBetween(baseline ?? "", present);
      return {
        path,
        label: vscode.workspace.asRelativePath(path),
        pendingHunks: hunks.length,
        added: hunks.reduce((sum, hunk) => sum + hunk.newLines.length, 0),
        removed: hunks.reduce((sum, hunk) => sum + hunk.oldLines.length, 0),
      };
    });
  }

  /** Hunks of a file in order; none when it is not under review. */
  hunks(path: string): readonly Hunk[] {
    const file = this.#files.get(path);
    return file === undefined ? [] : hunksBetween(file.baseline ?? "", file.present);
  }

  baseline(path: string): string {
    return this.#files.get(path)?.baseline ?? "";
  }

  /** An edit of the agent: the first one of a file sets its baseline. */
  edited({ path, before, after }: AgentEdit): void {
    const known = this.#files.get(path);
    this.#set({ path, baseline: known === undefined ? before : known.baseline, present: after });
  }

  keep(path: string, index: number): void {
    const file = this.#files.get(path);
    const hunk = this.hunks(path)[index];
    if (file && hunk) this.#set({ ...file, baseline: keepHunk(file.baseline ?? "", hunk) });
  }

  async undo(path: string, index: number): Promise<void> {
    const file = this.#files.get(path);
    const hunk = this.hunks(path)[index];
    if (file === undefined || hunk === undefined) return;
    await this.#write(file, undoHunk(file.present, hunk));
  }

  keepFile(path: string): void {
    this.#files.delete(path);
    this.#tell();
  }

  async undoFile(path: string): Promise<void> {
    const file = this.#files.get(path);
    if (file === undefined) return;
    await this.#write(file, file.baseline ?? "");
  }

  keepAll(): void {
    this.#files.clear();
    this.#tell();
  }

  async undoAll(): Promise<void> {
    for (const path of [...this.#files.keys()]) await this.undoFile(path);
  }

  dispose(): void {
    this.#typing.dispose();
    this.#changed.dispose();
  }

  /** Puts text back through the document; a file that the agent created goes when nothing of it is left. */
  async #write(file: ReviewedText, text: string): Promise<void> {
    const uri = vscode.Uri.file(file.path);
    if (file.baseline === null && text === "") {
      this.#files.delete(file.path);
      await vscode.workspace.fs.delete(uri, { useTrash: true });
      this.#tell();
      return;
    }
    this.#files.set(file.path, { ...file, present: text });
    const document = await vscode.workspace.openTextDocument(uri);
    const wasDirty = document.isDirty;
    const edit = minimalEdit(document.getText(), text);
    if (edit !== undefined) {
      const change = new vscode.WorkspaceEdit();
      change.replace(uri, new vscode.Range(document.positionAt(edit.start), document.positionAt(edit.end)), edit.text);
      await vscode.workspace.applyEdit(change);
      if (!wasDirty) await document.save();
    }
    this.#set({ ...file, present: text });
  }

  /** Typing of the user, an undo, or a reload from disk; the agent's own edits have been noted before. */
  #textChanged(document: vscode.TextDocument): void {
    const file = this.#files.get(document.uri.fsPath);
    if (file === undefined || findDocument(file.path) !== document) return;
    const text = document.getText();
    if (text === file.present) return;
    const baseline = file.baseline === null ? null : followTyping(file.baseline, file.present, text);
    this.#set({ ...file, baseline, present: text });
  }

  #set(file: ReviewedText): void {
    if (file.baseline === file.present) this.#files.delete(file.path);
    else this.#files.set(file.path, file);
    this.#tell();
  }

  #tell(): void {
    this.#store.save([...this.#files.values()]);
    this.#changed.fire();
  }
}
