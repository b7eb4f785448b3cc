/** Edits that wait for the user's decision before anything is written; only accepted hunks are written. */
import * as vscode from "vscode";
import { abortable } from "../../agent-core/platform/deadline.ts";
import { type Hunk, hunksBetween } from "../../agent-core/platform/hunks.ts";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import type { ReviewedWrite } from "../documents/edit-protocol.ts";
import { expectedEdit, type FileEdit, type GuardedEdit, type WrittenFile } from "../documents/guarded-edit.ts";
import { findDocument } from "../documents/read-text.ts";
import { type Rebased, rebaseHunks } from "./rebase-hunks.ts";
import { type Reviewable, type ReviewedText, reviewedText, withKept, withUndone } from "./reviewed-text.ts";

type Proposal = {
  /** The baseline is the file with the accepted hunks, the present text has the others too. */
  text: ReviewedText;
  /** Present text of the file; null where there is none. */
  file: string | null;
  kept: number;
  undone: number;
  readonly settle: (decision: Decision) => void;
};

/** The user's decision: `before` is the file's text now, `after` the text to write (the same: nothing). Hunks are counted. */
type Decision = Required<ReviewedWrite>["review"];

export type Proposing = {
  /** Aborted when the agent withdraws the edit. */
  readonly signal: AbortSignal;
  /** Called when the proposal can be seen. */
  readonly proposed: () => void;
};

export class Proposals implements Reviewable, vscode.Disposable {
  readonly #proposals = new Map<string, Proposal>();
  /** Proposals of one file, by path. */
  readonly #queue = new KeyedQueue();
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #typing: vscode.Disposable;

  readonly onDidChange = this.#changed.event;

  constructor() {
    this.#typing = vscode.workspace.onDidChangeTextDocument(({ document }) => this.#fileChanged(document));
  }

  get texts(): readonly ReviewedText[] {
    return [...this.#proposals.values()].map(({ text }) => text);
  }

  find(path: string): ReviewedText | undefined {
    return this.#proposals.get(path)?.text;
  }

  /**
   * Proposes an edit and writes what the user accepts of it. One edit of a file is proposed at a time; the next one waits
   * and is compared with the text that this one leaves. Rejects with ConflictError, or with the signal's reason.
   */
  decide(
    guarded: GuardedEdit,
    proposing: Proposing,
    write: (decided: GuardedEdit) => Promise<WrittenFile>,
  ): Promise<ReviewedWrite> {
    const { path } = guarded;
    return this.#queue.run(path, async () => {
      const decision = await this.#propose(await expectedEdit(guarded), proposing);
      // Lines that the user keeps keep their file.
      const after = guarded.after === null && decision.after === "" ? null : decision.after;
      const review = { ...decision, after };
      if (after === decision.before) return { written: undefined, review };
      return { written: await write({ path, expected: decision.before, after }), review };
    });
  }

  /** Settles when every hunk is decided. */
  async #propose({ path, before, after }: FileEdit, { signal, proposed }: Proposing): Promise<Decision> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<Decision>();
    const text = reviewedText({ path, baseline: before, present: after ?? "" });
    this.#proposals.set(path, { text, file: before, kept: 0, undone: 0, settle: resolve });
    this.#changed.fire(path);
    proposed();
    try {
      return await abortable(promise, signal);
    } finally {
      this.#proposals.delete(path);
      this.#changed.fire(path);
    }
  }

  keep(path: string, hunk?: Hunk): void {
    const proposal = this.#proposals.get(path);
    const text = proposal && withKept(proposal.text, hunk);
    if (proposal === undefined || text === undefined) return;
    proposal.kept += hunk === undefined ? proposal.text.hunks.length : 1;
    this.#decide(proposal, text);
  }

  undo(path: string, hunk?: Hunk): Promise<void> {
    const proposal = this.#proposals.get(path);
    const text = proposal && withUndone(proposal.text, hunk);
    if (proposal !== undefined && text !== undefined) {
      proposal.undone += hunk === undefined ? proposal.text.hunks.length : 1;
      this.#decide(proposal, text);
    }
    return Promise.resolve();
  }

  dispose(): void {
    this.#typing.dispose();
    this.#changed.dispose();
  }

  #decide(proposal: Proposal, text: ReviewedText): void {
    proposal.text = text;
    if (text.present !== (text.baseline ?? "")) {
      this.#changed.fire(text.path);
      return;
    }
    const { file, kept, undone } = proposal;
    proposal.settle({ before: file, after: kept === 0 ? file : text.present, kept, undone });
  }

  /** Rebases a proposal over the user's typing, so that the write includes it. */
  #fileChanged(document: vscode.TextDocument): void {
    const { fsPath: path } = document.uri;
    const proposal = this.#proposals.get(path);
    if (proposal === undefined || proposal.file === null || findDocument(path) !== document) return;
    const file = document.getText();
    if (file === proposal.file) return;
    const baseline = rebased(proposal.text.baseline ?? "", proposal.file, file);
    const present = rebased(proposal.text.present, proposal.file, file);
    // If this fails, the write detects the changed file and is refused.
    if (!baseline.isComplete || !present.isComplete) return;
    proposal.file = file;
    this.#decide(proposal, reviewedText({ path, baseline: baseline.text, present: present.text }));
  }
}

/** A sibling of the file after the file changed from `before` to `after`. */
function rebased(text: string, before: string, after: string): Rebased {
  return rebaseHunks({ text, before, hunks: hunksBetween(text, before) }, after);
}
