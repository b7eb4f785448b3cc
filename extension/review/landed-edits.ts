/** Edits of the agent that are in their files: of each file the text before them (the baseline) and the present one. */
import { sep } from "node:path";
import * as vscode from "vscode";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import type { FileMove } from "../client/client-services.ts";
import { findDocument } from "../documents/find-document.ts";
import {
  BYTE_ORDER_MARK,
  ConflictError,
  expectedEdit,
  type FileEdit,
  type GuardedEdit,
  guardedWrite,
  hasMark,
  presentText,
  type WrittenFile,
} from "../documents/guarded-write.ts";
import { differsInLineEndsOnly } from "../documents/line-ends.ts";
import { readText } from "../documents/read-text.ts";
import type { Hunk } from "./hunks.ts";
import type { ReviewStore } from "./review-store.ts";
import type { Reviewable } from "./reviewable.ts";
import {
  edited,
  followed,
  type ReviewedText,
  reviewedText,
  textInFile,
  withAllUndone,
  withKept,
  withUndone,
} from "./reviewed-text.ts";

/** States of a file that Ctrl+Z can bring back with the review they had. */
const REMEMBERED_STATES = 20;
/** How often an undo is tried while the user is typing in the file. */
const UNDO_ATTEMPTS = 5;

/** What an undo makes of a text; undefined when there is nothing to undo in it any more. */
type PuttingBack = (text: ReviewedText) => ReviewedText | undefined;

/** `text` is what a document will tell of; undefined when none will. */
type Planned = { readonly text: string | undefined; readonly noted: () => void };

export class LandedEdits implements Reviewable, vscode.Disposable {
  readonly #texts = new Map<string, ReviewedText>();
  /** Writes on their way: a change that gives their text is theirs, not the user's. */
  readonly #planned = new Map<string, Planned>();
  /** By path. Every write of this window to a file, the agent's and the user's, goes through it. */
  readonly #writes = new KeyedQueue();
  /** Earlier states by path, since the last verdict "keep". */
  readonly #states = new Map<string, ReviewedText[]>();
  readonly #store: ReviewStore;
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #subscriptions: readonly vscode.Disposable[];

  readonly onDidChange = this.#changed.event;

  /** `tell` gets what could not be looked at. */
  constructor(store: ReviewStore, tell: (problem: string) => void) {
    this.#store = store;
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#textChanged(document)),
      vscode.workspace.onDidRenameFiles(({ files }) => {
        for (const { oldUri, newUri } of files) this.#renamed(oldUri.fsPath, newUri.fsPath);
      }),
      vscode.workspace.onDidDeleteFiles(({ files }) => {
        for (const { fsPath } of files) this.#deleted(fsPath, tell);
      }),
    ];
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

  /** Writes an edit of the agent and puts the change up for review. Rejects with ConflictError, or when VS Code refuses. */
  land(edit: GuardedEdit): Promise<WrittenFile> {
    const { path, after } = edit;
    return this.#writes.run(path, async () => {
      const goesWithMark = after === null && (await hasMark(vscode.Uri.file(path)).catch(() => false));
      return this.#write(edit, (change) => ({
        text: change.after ?? undefined,
        noted: () => this.#land(change, goesWithMark),
      }));
    });
  }

  /** Writes an edit that the user has accepted: nothing of it is up for review. Rejects as `land`. */
  write(edit: GuardedEdit): Promise<WrittenFile> {
    return this.#writes.run(edit.path, () => guardedWrite(edit));
  }

  /** Moves a file that holds `expected`, and its review with it. Rejects as `land`, and as `move`. */
  async move({ from, to, expected }: FileMove, move: () => Promise<void>): Promise<void> {
    await this.#writes.run(from, async () => {
      await expectedEdit({ path: from, expected, after: null });
      await move();
      this.#moved(from, to);
    });
  }

  /**
   * Gives a file an earlier text (`after` null removes it). The review that it had with that text comes back, otherwise
   * the change counts as the user's own: nothing new is up. Rejects as `land`.
   */
  revert(edit: GuardedEdit): Promise<WrittenFile> {
    const { path } = edit;
    return this.#writes.run(path, async () => {
      const text = this.#texts.get(path);
      let reverted: FileEdit | undefined;
      const written = await guardedWrite(edit, (change) => {
        reverted = change;
        if (text !== undefined && change.before !== change.after) this.#remember(text); // Ctrl+Z brings it back
      });
      if (reverted !== undefined && reverted.before !== reverted.after) this.#reverted(reverted, text);
      return written;
    });
  }

  #reverted({ path, after }: FileEdit, before: ReviewedText | undefined): void {
    if (!this.#texts.has(path)) return;
    if (after === null) this.#forget(path);
    else if (before?.isGone) this.#set(reviewedText({ path, baseline: before.baseline, present: after }));
    // A file that no document shows emits no change event.
    else this.#follow(path, after);
  }

  keep(path: string, hunk: Hunk): void {
    const text = this.#texts.get(path);
    const kept = text && withKept(text, hunk);
    if (kept === undefined) return;
    this.#states.delete(path);
    this.#set(kept);
  }

  async undo(path: string, hunk: Hunk): Promise<void> {
    await this.#putBack(path, (text) => withUndone(text, hunk));
  }

  keepFile(path: string): void {
    const text = this.#texts.get(path);
    if (text === undefined) return;
    this.#states.delete(path);
    this.#set({ ...text, baseline: text.present, hunks: [] });
  }

  async undoFile(path: string): Promise<void> {
    await this.#putBack(path, withAllUndone);
  }

  /** The file may have changed, or gone, where nobody told of it. */
  lookAgain(path: string): Promise<void> {
    return this.#writes.run(path, () => this.#catchUp(path));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #takeUp(kept: ReviewedText): Promise<void> {
    const present = await readText(kept.path);
    if (this.#texts.has(kept.path)) return; // the agent was faster
    if (present !== null) this.#set(followed(kept, present));
    else if (kept.isGone) this.#set(kept);
    else this.#store.remove(kept.path);
  }

  /** Rejects when the file cannot be changed; what the user types at the same moment is no reason. */
  #putBack(path: string, putBack: PuttingBack): Promise<void> {
    return this.#writes.run(path, async () => {
      for (let rest = UNDO_ATTEMPTS - 1; !(await this.#triesToPutBack(path, putBack, rest)); rest -= 1);
    });
  }

  /** False when it is worth while to try again, as long as there are attempts left. */
  async #triesToPutBack(path: string, putBack: PuttingBack, attemptsLeft: number): Promise<boolean> {
    const text = this.#texts.get(path);
    const undone = text && putBack(text);
    if (text === undefined || undone === undefined) return true; // a verdict before this one has taken it
    try {
      await this.#writeUndone(text, undone, putBack);
      return true;
    } catch (error) {
      await this.#catchUp(path);
      const isTyping = error instanceof ConflictError && findDocument(path)?.isDirty === true;
      if (isTyping && attemptsLeft > 0) return false;
      throw error;
    }
  }

  /** Puts text back through the document; a file that the agent created goes when nothing of it is left. */
  async #writeUndone(text: ReviewedText, undone: ReviewedText, putBack: PuttingBack): Promise<void> {
    const { path, present } = undone;
    const goes = text.baseline === null && present === "";
    const noted = (): void => {
      // What was kept meanwhile stays kept, but for the undone lines themselves.
      const now = this.#texts.get(path) ?? text;
      this.#remember(now);
      const undoneNow = putBack(now);
      if (goes) this.#forget(path);
      else this.#set(undoneNow?.present === present ? undoneNow : undone);
    };
    const written = (text.hasMark ? BYTE_ORDER_MARK : "") + present;
    const edit = { path, expected: textInFile(text), after: goes ? null : written };
    await this.#write(edit, () => ({ text: present, noted }));
  }

  /** A write of our own: when its text is there, `noted` takes it into the review. */
  async #write(edit: GuardedEdit, plan: (change: FileEdit) => Planned): Promise<WrittenFile> {
    const { path } = edit;
    let planned: Planned | undefined;
    try {
      const written = await guardedWrite(edit, (change) => {
        planned = plan(change);
        this.#planned.set(path, planned);
      });
      if (planned !== undefined && this.#planned.get(path) === planned) planned.noted();
      return written;
    } finally {
      this.#planned.delete(path);
    }
  }

  /** After a write that found another text than the review knew. */
  async #catchUp(path: string): Promise<void> {
    const present = await presentText(path);
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
    if (isShown(planned?.text, present)) {
      this.#planned.delete(path);
      planned?.noted();
      return;
    }
    // What the file holds is still more exact than what VS Code makes of it.
    if (!document.isDirty && isShown(text?.present, present)) return;
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

  #land({ path, before, after }: FileEdit, goesWithMark: boolean): void {
    const last = this.#texts.get(path);
    // The file may have been changed where no document told of it.
    const known = last === undefined || textInFile(last) === before ? last : followed(last, before ?? "");
    const baseline = known === undefined ? before : known.baseline;
    if (known !== undefined) this.#remember(known);
    if (after !== null) this.#set(edited(known, path, before, after));
    else if (baseline === null)
      this.#forget(path); // the agent had made it itself
    else this.#set(reviewedText({ path, baseline, present: "", isGone: true, ...(goesWithMark && { hasMark: true }) }));
  }

  /** Paths under review that are, or lie in, what stands at `path`. */
  #within(path: string): readonly string[] {
    return [...this.#texts.keys()].filter((known) => known === path || known.startsWith(`${path}${sep}`));
  }

  /** By the user or by us; a folder is told of once. */
  #renamed(from: string, to: string): void {
    for (const path of this.#within(from)) this.#moved(path, `${to}${path.slice(from.length)}`);
  }

  #deleted(path: string, tell: (problem: string) => void): void {
    for (const gone of this.#within(path)) {
      // Whether something stands there again is seen when our own writes are through.
      this.lookAgain(gone).catch((error: unknown) => tell(`${gone} cannot be read: ${String(error)}`));
    }
  }

  #moved(from: string, to: string): void {
    const states = this.#states.get(from);
    this.#states.delete(from);
    if (states !== undefined)
      this.#states.set(
        to,
        states.map((state) => ({ ...state, path: to })),
      );
    const text = this.#texts.get(from);
    if (text === undefined) return;
    this.#forget(from);
    this.#set({ ...text, path: to });
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

/** Whether a document shows a text, whose several kinds of line ends would be one there. */
function isShown(text: string | undefined, shown: string): boolean {
  return text !== undefined && (text === shown || differsInLineEndsOnly(text, shown));
}
