/** Edits of the agent that are in their files: of each file the text before them (the baseline) and the present one. */
import * as vscode from "vscode";
import type { AgentEdit } from "../client/client-method.ts";
import { findDocument } from "../documents/find-document.ts";
import { readText } from "../documents/read-text.ts";
import { readNow, writeNow } from "../documents/write-document.ts";
import { followTyping, type Hunk, keepHunk, undoHunk } from "./hunks.ts";
import type { ReviewStore } from "./review-store.ts";
import type { Reviewable } from "./reviewable.ts";
import { type ReviewedText, textInFile } from "./reviewed-text.ts";

/** States of a file that Ctrl+Z can bring back with the review they had. */
const REMEMBERED_STATES = 20;

/** `text` is what a document will tell of; undefined when none will. */
type Planned = { readonly text: string | undefined; readonly noted: () => void };

export class LandedEdits implements Reviewable, vscode.Disposable {
  readonly #texts = new Map<string, ReviewedText>();
  /** Writes on their way: a change that gives their text is theirs, not the user's. */
  readonly #planned = new Map<string, Planned>();
  /** Earlier states by path, since the last verdict "keep". */
  readonly #states = new Map<string, ReviewedText[]>();
  readonly #store: ReviewStore;
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #typing: vscode.Disposable;

  readonly onDidChange = this.#changed.event;

  constructor(store: ReviewStore) {
    this.#store = store;
    this.#typing = vscode.workspace.onDidChangeTextDocument(({ document }) => this.#textChanged(document));
  }

  get texts(): readonly ReviewedText[] {
    return [...this.#texts.values()];
  }

  find(path: string): ReviewedText | undefined {
    return this.#texts.get(path);
  }

  /**
   * Takes up what an earlier window left; what changed in the files since then is not the agent's. Rejects with the
   * first reason when files could not be read: their records stay for the next window.
   */
  async restore(): Promise<void> {
    const records = await this.#store.load();
    const taken = await Promise.allSettled(records.map((kept) => this.#takeUp(kept)));
    const failed = taken.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** Runs the write of an edit and puts what it changes up for review. Rejects as `write` does. */
  async landing(edit: AgentEdit, write: () => Promise<void>): Promise<void> {
    const { path, before, after } = edit;
    const known = this.#texts.get(path);
    // The file was changed where no document told of it.
    if (known !== undefined && textInFile(known) !== before) this.#set(followed(known, before ?? ""));
    await this.#plan(path, { text: after ?? undefined, noted: () => this.#land(edit) }, write);
  }

  /** Runs the move of a file and takes its review along. Rejects as `move` does. */
  async moving(from: string, to: string, move: () => Promise<void>): Promise<void> {
    await move();
    const text = this.#texts.get(from);
    if (text === undefined) return;
    this.#forget(from);
    this.#set({ ...text, path: to });
  }

  /**
   * Runs a write that gives a file an earlier text (null: takes it away). The review that it had with that text comes
   * back, else the change counts as the user's own: nothing new is up. Rejects as `write` does.
   */
  async puttingBack(path: string, after: string | null, write: () => Promise<void>): Promise<void> {
    const before = this.#texts.get(path);
    if (before !== undefined) this.#remember(before); // Ctrl+Z brings it back
    await write();
    if (!this.#texts.has(path)) return;
    if (after === null) this.#forget(path);
    else if (before?.isGone) this.#set({ path, baseline: before.baseline, present: after });
    // A file that no document shows tells of no change.
    else this.#follow(path, after);
  }

  keep(path: string, hunk: Hunk): void {
    const text = this.#texts.get(path);
    if (text === undefined) return;
    this.#states.delete(path);
    this.#set({ ...text, baseline: keepHunk(text.baseline ?? "", hunk) });
  }

  async undo(path: string, hunk: Hunk): Promise<void> {
    const text = this.#texts.get(path);
    if (text !== undefined) await this.#write(text, undoHunk(text.present, hunk));
  }

  keepFile(path: string): void {
    const text = this.#texts.get(path);
    if (text === undefined) return;
    this.#states.delete(path);
    this.#set({ ...text, baseline: text.present });
  }

  async undoFile(path: string): Promise<void> {
    const text = this.#texts.get(path);
    if (text !== undefined) await this.#write(text, text.baseline ?? "");
  }

  dispose(): void {
    this.#typing.dispose();
    this.#changed.dispose();
  }

  async #takeUp(kept: ReviewedText): Promise<void> {
    const present = await readText(kept.path);
    if (this.#texts.has(kept.path)) return; // the agent was faster
    if (present !== null) this.#set(followed(kept, present));
    else if (kept.isGone) this.#set(kept);
    else this.#store.remove(kept.path);
  }

  /** Puts text back through the document; a file that the agent created goes when nothing of it is left. */
  async #write(text: ReviewedText, present: string): Promise<void> {
    const { path } = text;
    const goes = text.baseline === null && present === "";
    const noted = (): void => {
      this.#remember(text);
      if (goes) this.#forget(path);
      else this.#set({ path, baseline: text.baseline, present });
    };
    try {
      await this.#plan(path, { text: present, noted }, () => writeNow(path, textInFile(text), goes ? null : present));
    } catch (error) {
      await this.#catchUp(path);
      throw error;
    }
  }

  /** Runs a write of our own: when its text is there, `noted` takes it into the review. */
  async #plan(path: string, planned: Planned, write: () => Promise<void>): Promise<void> {
    this.#planned.set(path, planned);
    try {
      await write();
      if (this.#planned.get(path) === planned) planned.noted();
    } finally {
      this.#planned.delete(path);
    }
  }

  /** After a write that found another text than the review knew. */
  async #catchUp(path: string): Promise<void> {
    const { text: present } = await readNow(path);
    const text = this.#texts.get(path);
    if (text === undefined || present === textInFile(text)) return;
    if (present === null) this.#forget(path);
    else this.#set(followed(text, present));
  }

  /** Typing of the user, Ctrl+Z, a reload from disk, or a write of ours. */
  #textChanged(document: vscode.TextDocument): void {
    const { fsPath: path } = document.uri;
    const planned = this.#planned.get(path);
    const text = this.#texts.get(path);
    if (planned === undefined && text === undefined && !this.#states.has(path)) return;
    if (findDocument(path) !== document) return;
    const present = document.getText();
    if (planned !== undefined && present === planned.text) {
      this.#planned.delete(path);
      planned.noted();
      return;
    }
    this.#follow(path, present);
  }

  /** The text of a file is another one by now, not by an edit of the agent's. */
  #follow(path: string, present: string): void {
    const text = this.#texts.get(path);
    if (present === text?.present) return;
    const earlier = this.#states.get(path)?.find((state) => state.present === present);
    if (earlier !== undefined) this.#set(earlier);
    // Nothing of the agent's is left of it, however it went.
    else if (text?.baseline === present) this.#forget(path);
    else if (text !== undefined) this.#set(followed(text, present));
  }

  #land({ path, before, after }: AgentEdit): void {
    const known = this.#texts.get(path);
    const baseline = known === undefined ? before : known.baseline;
    if (known !== undefined) this.#remember(known);
    if (after !== null) this.#set({ path, baseline, present: after });
    else if (baseline === null)
      this.#forget(path); // the agent had made it itself
    else this.#set({ path, baseline, present: "", isGone: true });
  }

  #remember(text: ReviewedText): void {
    const states = [text, ...(this.#states.get(text.path) ?? [])];
    this.#states.set(text.path, states.slice(0, REMEMBERED_STATES));
  }

  #set(text: ReviewedText): void {
    if (text.baseline === text.present) {
      this.#forget(text.path);
      return;
    }
    this.#texts.set(text.path, text);
    this.#store.save(text);
    this.#changed.fire(text.path);
  }

  #forget(path: string): void {
    this.#texts.delete(path);
    this.#store.remove(path);
    this.#changed.fire(path);
  }
}

function followed(text: ReviewedText, present: string): ReviewedText {
  const baseline = followTyping(text.baseline ?? "", text.present, present);
  return { path: text.path, baseline: text.baseline === null && baseline === "" ? null : baseline, present };
}
