/** Edits that wait for the user's verdict before anything is written; only the hunks they accept will be. */
import * as vscode from "vscode";
import type { AgentEdit, Verdict } from "../client/client-method.ts";
import { findDocument } from "../documents/find-document.ts";
import { type Carried, carryChange } from "./carry-change.ts";
import { type Hunk, hunksBetween } from "./hunks.ts";
import type { Reviewable } from "./reviewable.ts";
import { type ReviewedText, reviewedText, withAllUndone, withKept, withUndone } from "./reviewed-text.ts";

type Proposal = {
  /** The baseline is the file with what has been accepted, the present text what is still proposed. */
  text: ReviewedText;
  /** The file as it is; null where there is none. */
  file: string | null;
  kept: number;
  undone: number;
  readonly settle: (verdict: Verdict) => void;
};

export class Proposals implements Reviewable, vscode.Disposable {
  readonly #proposals = new Map<string, Proposal>();
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
   * Settles when every hunk has its verdict. There is one proposal for a path at a time.
   * Rejects with the signal's reason when the agent withdraws the edit.
   */
  async propose(
    { path, before, after }: AgentEdit & { readonly after: string },
    signal: AbortSignal,
  ): Promise<Verdict> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const withdraw = (): void => reject(signal.reason);
    signal.addEventListener("abort", withdraw, { once: true });
    const text = reviewedText({ path, baseline: before, present: after });
    this.#proposals.set(path, { text, file: before, kept: 0, undone: 0, settle: resolve });
    this.#changed.fire(path);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#proposals.delete(path);
      this.#changed.fire(path);
    }
  }

  keep(path: string, hunk: Hunk): void {
    const proposal = this.#proposals.get(path);
    const text = proposal && withKept(proposal.text, hunk);
    if (proposal === undefined || text === undefined) return;
    proposal.kept += 1;
    this.#decide(proposal, text);
  }

  undo(path: string, hunk: Hunk): Promise<void> {
    const proposal = this.#proposals.get(path);
    const text = proposal && withUndone(proposal.text, hunk);
    if (proposal !== undefined && text !== undefined) {
      proposal.undone += 1;
      this.#decide(proposal, text);
    }
    return Promise.resolve();
  }

  keepFile(path: string): void {
    const proposal = this.#proposals.get(path);
    if (proposal === undefined) return;
    proposal.kept += proposal.text.hunks.length;
    this.#decide(proposal, { ...proposal.text, baseline: proposal.text.present, hunks: [] });
  }

  undoFile(path: string): Promise<void> {
    const proposal = this.#proposals.get(path);
    if (proposal !== undefined) {
      proposal.undone += proposal.text.hunks.length;
      this.#decide(proposal, withAllUndone(proposal.text));
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
    proposal.settle({ kind: "decided", before: file, after: kept === 0 ? file : text.present, kept, undone });
  }

  /** The user goes on typing in the file: theirs is part of what will be written, else the write is refused. */
  #fileChanged(document: vscode.TextDocument): void {
    const { fsPath: path } = document.uri;
    const proposal = this.#proposals.get(path);
    if (proposal === undefined || proposal.file === null || findDocument(path) !== document) return;
    const file = document.getText();
    if (file === proposal.file) return;
    const baseline = carriedInto(proposal.text.baseline ?? "", proposal.file, file);
    const present = carriedInto(proposal.text.present, proposal.file, file);
    // What cannot be joined stays different from `file`, and the write finds that the file has changed.
    if (!baseline.complete || !present.complete) return;
    proposal.file = file;
    this.#decide(proposal, reviewedText({ path, baseline: baseline.text, present: present.text }));
  }
}

/** The change of the file from `before` to `after` in a text that is its sibling. */
function carriedInto(text: string, before: string, after: string): Carried {
  return carryChange({ text, before, hunks: hunksBetween(text, before) }, after);
}
