/** Edits of the agent that are in their files, with each file's text before them (the baseline) and now. */
import { sep } from "node:path";
import * as vscode from "vscode";
import { type Hunk, splitLines } from "../../agent-core/platform/hunks.ts";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import type { FileMove } from "../client/client-services.ts";
import {
  applyGuardedEdit,
  BYTE_ORDER_MARK,
  ConflictError,
  expectedEdit,
  type FileEdit,
  type GuardedEdit,
  hasMark,
  presentText,
  type WrittenFile,
} from "../documents/guarded-edit.ts";
import { differsInLineEndsOnly } from "../documents/line-ends.ts";
import { findDocument, readText } from "../documents/read-text.ts";
import type { ReviewStore } from "./review-store.ts";
import {
  afterEdit,
  afterForeignChange,
  all,
  type Reviewable,
  type ReviewedText,
  reviewedText,
  textInFile,
  withKept,
  withUndone,
} from "./reviewed-text.ts";

/** States of a file whose review returns with their text, such as by Ctrl+Z or a checkout. */
const REMEMBERED_STATES = 20;
/** Attempts to revert while the user types in the file. */
const UNDO_ATTEMPTS = 5;

/** A revert of a text; undefined when there is nothing left to revert. */
type Revert = (text: ReviewedText) => ReviewedText | undefined;

/** A write of our own. `text` is the one that a document will show; undefined for a removal. */
type Planned = { readonly text: string | undefined; readonly noted: () => void };

export class AppliedEdits implements Reviewable, vscode.Disposable {
  readonly #texts = new Map<string, ReviewedText>();
  /** Writes in progress: a change to their text is theirs, not the user's. */
  readonly #planned = new Map<string, Planned>();
  /** The one queue for writes, by path: the agent's edits and the user's reverts. */
  readonly #writes = new KeyedQueue();
  /** Text of each file after the agent's last edit in this window. */
  readonly #written = new Map<string, string>();
  /** Each text that a reload from the disk led to, and the text before. */
  readonly #beforeReload = new WeakMap<ReviewedText, ReviewedText>();
  /** Earlier states by path, since the last kept hunk. */
  readonly #states = new Map<string, ReviewedText[]>();
  readonly #store: ReviewStore;
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #subscriptions: readonly vscode.Disposable[];

  readonly onDidChange = this.#changed.event;

  /** `report` gets messages about files that could not be read. */
  constructor(store: ReviewStore, report: (problem: string) => void) {
    this.#store = store;
    const watcher = vscode.workspace.createFileSystemWatcher("**/*");
    const changedOnDisk = ({ fsPath }: vscode.Uri): void => this.#changedOnDisk(fsPath, report);
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#textChanged(document)),
      vscode.workspace.onDidRenameFiles(({ files }) => {
        for (const { oldUri, newUri } of files) this.#renamed(oldUri.fsPath, newUri.fsPath);
        for (const { newUri } of files) changedOnDisk(newUri); // the end at the old path may have been seen first
      }),
      vscode.workspace.onDidDeleteFiles(({ files }) => files.forEach(changedOnDisk)),
      watcher,
      watcher.onDidCreate(changedOnDisk),
      watcher.onDidDelete(changedOnDisk),
      // A document emits the changes of its file itself.
      watcher.onDidChange((uri) => findDocument(uri.fsPath) ?? changedOnDisk(uri)),
    ];
  }

  get texts(): readonly ReviewedText[] {
    return [...this.#texts.values()];
  }

  find(path: string): ReviewedText | undefined {
    return this.#texts.get(path);
  }

  /** Number of the hunks' lines that the user typed in place of the agent's. Unknown after a reload, and 0 then. */
  countRetyped(path: string, hunks: readonly Hunk[]): number {
    const written = this.#written.get(path);
    if (written === undefined) return 0;
    const agentLines = new Set(splitLines(written));
    return hunks.flatMap(({ newLines }) => newLines).filter((line) => !agentLines.has(line)).length;
  }

  /**
   * Restores the reviews of an earlier window; changes of the files since then are not the agent's. Rejects with the first
   * reason when files could not be read: their records stay for the next window.
   */
  async restore(): Promise<void> {
    const records = await this.#store.load();
    await all(records.map((kept) => this.#restoreText(kept)));
  }

  /** Writes an edit of the agent and puts the change up for review. Rejects with ConflictError, or when VS Code refuses. */
  apply(edit: GuardedEdit): Promise<WrittenFile> {
    const { path, after } = edit;
    return this.#writes.run(path, async () => {
      const hadMark = after === null && (await hasMark(path));
      const written = await this.#write(edit, (change) => ({
        text: change.after ?? undefined,
        noted: () => this.#noteEdit(change, hadMark),
      }));
      if (written.text !== null) this.#written.set(path, written.text); // a formatter's lines are not retyped ones
      return written;
    });
  }

  /** Puts up a change that an agent made on the disk by itself. Without effect when the file has changed again since. */
  noteOnDisk(edit: FileEdit): Promise<void> {
    const { path, after } = edit;
    return this.#writes.run(path, async () => {
      if ((await presentText(path)) === after) this.#noteEdit(edit, false);
    });
  }

  /** Writes an edit that the user has accepted: it is not up for review. Rejects as `apply`. */
  writeAccepted(edit: GuardedEdit): Promise<WrittenFile> {
    return this.#writes.run(edit.path, () => applyGuardedEdit(edit));
  }

  /** Moves a file that holds `expected`, and its review with it. Rejects as `apply`, and as `move`. */
  async move({ from, to, expected }: FileMove, move: () => Promise<void>): Promise<void> {
    await this.#writes.run(from, async () => {
      await expectedEdit({ path: from, expected, after: null });
      await move();
      this.#moved(from, to);
    });
  }

  /**
   * Gives a file an earlier text (`after` null removes it), with the review that it had then. Without one the change counts
   * as the user's own, which is not up for review. Rejects as `apply`.
   */
  revert(edit: GuardedEdit): Promise<WrittenFile> {
    const { path } = edit;
    return this.#writes.run(path, async () => {
      const text = this.#texts.get(path);
      let reverted: FileEdit | undefined;
      const written = await applyGuardedEdit(edit, (change) => {
        reverted = change;
        if (text !== undefined && change.before !== change.after) this.#remember(text); // Ctrl+Z brings it back
      });
      if (reverted !== undefined && reverted.before !== reverted.after) this.#reverted(reverted, text);
      return written;
    });
  }

  #reverted({ path, after }: FileEdit, before: ReviewedText | undefined): void {
    if (!this.#texts.has(path)) {
      // A new file that returns has no document whose change event brings its review back.
      const earlier = this.#states.get(path)?.find(({ present }) => present === after);
      if (earlier !== undefined) this.#set(earlier);
      return;
    }
    if (after === null) this.#forget(path);
    else if (before?.isGone) this.#set(reviewedText({ path, baseline: before.baseline, present: after }));
    // A file that no document shows emits no change event.
    else this.#follow(path, after);
  }

  keep(path: string, hunk?: Hunk): void {
    const text = this.#texts.get(path);
    const kept = text && withKept(text, hunk);
    if (kept === undefined) return;
    this.#states.delete(path);
    if (hunk === undefined) this.#written.delete(path);
    this.#set(kept);
  }

  /** Tries again while the user types at the same moment. */
  undo(path: string, hunk?: Hunk): Promise<void> {
    return this.#writes.run(path, async () => {
      const revert: Revert = (text) => withUndone(text, hunk);
      for (let rest = UNDO_ATTEMPTS - 1; !(await this.#tryRevert(path, revert, rest)); rest -= 1);
    });
  }

  /** Writes edits of a file again that `undo` has undone, with their review. Rejects when the file has changed since. */
  redoFile(text: ReviewedText): Promise<void> {
    const { path, baseline, present } = text;
    const after = textInFile(text);
    return this.#writes.run(path, async () => {
      await this.#write({ path, expected: baseline, after }, () => ({
        text: after === null ? undefined : present,
        noted: () => this.#set(text),
      }));
    });
  }

  /** Reads a file again that may have changed or gone without an event. */
  refresh(path: string): Promise<void> {
    return this.#writes.run(path, () => this.#catchUp(path));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #restoreText(kept: ReviewedText): Promise<void> {
    const present = await readText(kept.path);
    if (this.#texts.has(kept.path)) return; // the agent was faster
    if (present !== null) this.#set(afterForeignChange(kept, present));
    else if (kept.isGone) this.#set(kept);
    else this.#store.keep(kept.path, undefined);
  }

  /** False when another attempt may succeed. */
  async #tryRevert(path: string, revert: Revert, attemptsLeft: number): Promise<boolean> {
    const text = this.#texts.get(path);
    const undone = text && revert(text);
    if (text === undefined || undone === undefined) return true; // an earlier decision has ended its review
    try {
      await this.#writeReverted(text, undone, revert);
      return true;
    } catch (error) {
      await this.#catchUp(path);
      const isTyping = error instanceof ConflictError && findDocument(path)?.isDirty === true;
      if (isTyping && attemptsLeft > 0) return false;
      throw error;
    }
  }

  /** Writes through the document; a file that the agent created is removed when nothing of it is left. */
  async #writeReverted(text: ReviewedText, undone: ReviewedText, revert: Revert): Promise<void> {
    const { path, present } = undone;
    const isRemoval = text.baseline === null && present === "";
    const noted = (): void => {
      // Hunks that were kept meanwhile stay kept, except the reverted lines.
      const now = this.#texts.get(path) ?? text;
      this.#remember(now);
      const undoneNow = revert(now);
      if (isRemoval) this.#forget(path);
      else this.#set(undoneNow?.present === present ? undoneNow : undone);
    };
    const written = (text.hasMark ? BYTE_ORDER_MARK : "") + present;
    const edit = { path, expected: textInFile(text), after: isRemoval ? null : written };
    await this.#write(edit, () => ({ text: present, noted }));
  }

  /** Runs a write of our own: once its text is there, `noted` updates the review. */
  async #write(edit: GuardedEdit, plan: (change: FileEdit) => Planned): Promise<WrittenFile> {
    const { path } = edit;
    let planned: Planned | undefined;
    try {
      const written = await applyGuardedEdit(edit, (change) => {
        planned = plan(change);
        this.#planned.set(path, planned);
      });
      if (planned !== undefined && this.#planned.get(path) === planned) planned.noted();
      return written;
    } finally {
      this.#planned.delete(path);
    }
  }

  /** Updates the review of a file whose text is another one than the review knows. */
  async #catchUp(path: string): Promise<void> {
    const present = await presentText(path);
    const text = this.#texts.get(path);
    if (present !== null) this.#follow(path, present);
    else if (text !== undefined && !text.isGone) this.#end(text);
  }

  /** Handles typing of the user, Ctrl+Z, a reload from disk, and writes of our own. */
  #textChanged(document: vscode.TextDocument): void {
    const { fsPath: path } = document.uri;
    const planned = this.#planned.get(path);
    const text = this.#texts.get(path);
    if (planned === undefined && text === undefined && !this.#states.has(path)) return;
    if (findDocument(path) !== document) return;
    const present = document.getText();
    if (isShown(planned?.text, present)) {
      this.#planned.delete(path);
      planned?.noted();
      return;
    }
    // The known text has the file's own line ends, which the document does not show.
    if (!document.isDirty && isShown(text?.present, present)) return;
    this.#follow(path, present);
  }

  /** Updates the review after a change that is not the agent's. */
  #follow(path: string, present: string): void {
    const text = this.#texts.get(path);
    if (text !== undefined && present === textInFile(text)) return;
    const earlier = this.#states.get(path)?.find((state) => textInFile(state) === present);
    if (earlier !== undefined) {
      if (text !== undefined) this.#remember(text);
      this.#set(earlier);
    }
    // No edit of the agent is left in the file.
    else if (text?.baseline === present) this.#end(text);
    else if (text !== undefined) this.#setForeign(text, present);
  }

  /**
   * A program empties a file before it fills it, and VS Code may load what is there in between. A reload that only adds to
   * such a beginning is therefore compared with the text before both.
   */
  #setForeign(text: ReviewedText, present: string): void {
    const isReload = findDocument(text.path)?.isDirty !== true;
    const first = isReload && present.startsWith(text.present) ? this.#beforeReload.get(text) : undefined;
    const before = first ?? text;
    const changed = afterForeignChange(before, present);
    if (isReload) this.#beforeReload.set(changed, before);
    if (changed.baseline === changed.present) this.#end(text);
    else this.#set(changed);
  }

  #noteEdit({ path, before, after }: FileEdit, hadMark: boolean): void {
    const last = this.#texts.get(path);
    if (after !== null) this.#written.set(path, after);
    // The file may have changed without an event.
    const known = last === undefined || textInFile(last) === before ? last : afterForeignChange(last, before ?? "");
    const baseline = known === undefined ? before : known.baseline;
    if (known !== undefined) this.#remember(known);
    if (after !== null) this.#set(afterEdit(known, path, before, after));
    // The agent had created it.
    else if (baseline === null) this.#forget(path);
    else this.#set(reviewedText({ path, baseline, present: "", isGone: true, ...(hadMark && { hasMark: true }) }));
  }

  /** Paths at `path`, or inside the folder `path`, that are under review or were. */
  #within(path: string): readonly string[] {
    const known = new Set([...this.#texts.keys(), ...this.#states.keys()]);
    return [...known].filter((one) => one === path || one.startsWith(`${path}${sep}`));
  }

  /** A folder has one event for all its files. */
  #renamed(from: string, to: string): void {
    for (const path of this.#within(from)) this.#moved(path, `${to}${path.slice(from.length)}`);
  }

  #changedOnDisk(path: string, report: (problem: string) => void): void {
    for (const known of this.#within(path)) {
      // Our own writes come first: they may create the file again.
      this.refresh(known).catch((error: unknown) => report(`could not read ${known}: ${String(error)}`));
    }
  }

  #moved(from: string, to: string): void {
    const written = this.#written.get(from);
    this.#written.delete(from);
    if (written !== undefined) this.#written.set(to, written);
    const states = this.#states.get(from);
    this.#states.delete(from);
    const moved = states?.map((state) => ({ ...state, path: to }));
    if (moved !== undefined) this.#states.set(to, moved);
    const text = this.#texts.get(from);
    if (text === undefined) return;
    this.#forget(from);
    this.#set({ ...text, path: to });
  }

  #remember(text: ReviewedText): void {
    const others = (this.#states.get(text.path) ?? []).filter((state) => textInFile(state) !== textInFile(text));
    this.#states.set(text.path, [text, ...others].slice(0, REMEMBERED_STATES));
  }

  /** Ends a review that a redo, a branch or a stash can bring back. */
  #end(text: ReviewedText): void {
    this.#remember(text);
    this.#forget(text.path);
  }

  #set(text: ReviewedText): void {
    if (text.baseline === text.present) {
      this.#forget(text.path);
      return;
    }
    this.#texts.set(text.path, text);
    this.#store.keep(text.path, text);
    this.#changed.fire(text.path);
  }

  #forget(path: string): void {
    this.#texts.delete(path);
    this.#store.keep(path, undefined);
    this.#changed.fire(path);
  }
}

/** True when a document shows the text; it shows several kinds of line ends as one. */
function isShown(text: string | undefined, shown: string): boolean {
  return text !== undefined && (text === shown || differsInLineEndsOnly(text, shown));
}
