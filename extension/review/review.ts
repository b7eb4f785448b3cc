/** All edits under review, by document, and the user's decisions about them. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import type { HermesReviewed } from "../../agent-core/protocol/files.ts";
import type { PanelEvent, ReviewedFile } from "../../agent-core/protocol/panel-events.ts";
import type { AppliedEdits } from "./applied-edits.ts";
import type { Proposals } from "./proposals.ts";
import { all, type Reviewable, type ReviewedText } from "./reviewed-text.ts";

/** Documents with the baseline of applied edits, the accepted part of a proposal, and the whole proposal. */
export const BASELINE_SCHEME = "hermes-baseline";
export const ACCEPTED_SCHEME = "hermes-accepted";
export const PROPOSAL_SCHEME = "hermes-proposal";
/** Empty document in place of a file that the agent has removed. */
export const GONE_SCHEME = "hermes-gone";

type ReviewedEvent = Extract<PanelEvent, { kind: "reviewed" }>;

export class Review implements vscode.Disposable {
  readonly #applied: AppliedEdits;
  readonly #proposals: Proposals;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #decided = new vscode.EventEmitter<HermesReviewed>();
  readonly #settled = new vscode.EventEmitter<ReviewedEvent>();
  readonly #subscriptions: vscode.Disposable[];
  /** Files that the user has undone; a new edit ends the offer to redo them. */
  #undone: readonly ReviewedText[] = [];

  /** Emits the document (the file, or the proposal's) whose hunks changed. */
  readonly onDidChange = this.#changed.event;

  /** Emits the user's decisions on edits. */
  readonly onDidDecide = this.#decided.event;

  /** Emits files whose edits were kept, or have all been undone or redone. */
  readonly onDidSettle = this.#settled.event;

  constructor(applied: AppliedEdits, proposals: Proposals) {
    this.#applied = applied;
    this.#proposals = proposals;
    this.#subscriptions = [
      applied.onDidChange((path) => {
        const text = applied.find(path);
        if (text !== undefined) this.#undone = this.#undone.filter((undone) => undone.path !== path);
        this.#changed.fire(appliedUri(path, text?.isGone));
      }),
      proposals.onDidChange((path) => this.#changed.fire(proposalUri(path))),
      this.#changed,
      this.#decided,
      this.#settled,
    ];
  }

  /** Documents with hunks: proposals first, because the agent waits for them. */
  get documents(): readonly vscode.Uri[] {
    return [
      ...this.#proposals.texts.map(({ path }) => proposalUri(path)),
      ...this.#applied.texts.map(({ path, isGone }) => appliedUri(path, isGone)),
    ];
  }

  get files(): readonly ReviewedFile[] {
    return [
      ...this.#proposals.texts.map((text) => summary(text, true)),
      ...this.#applied.texts.map((text) => summary(text, false)),
    ];
  }

  /** The text that a document shows under review. */
  find(uri: vscode.Uri): ReviewedText | undefined {
    return this.#side(uri)?.find(uri.fsPath);
  }

  /** Hunks of a document in order; none when it is not under review. */
  hunks(uri: vscode.Uri): readonly Hunk[] {
    return this.find(uri)?.hunks ?? [];
  }

  /** Documents that show `path`: a proposal, edits in the file, or both. */
  documentsOf(path: string): readonly vscode.Uri[] {
    return this.documents.filter(({ fsPath }) => fsPath === path);
  }

  /** Keeps a hunk, default: all of the document. Lines that the user typed over the agent's are retyped, not kept. */
  keep(uri: vscode.Uri, hunk?: Hunk): void {
    const hunks = hunk === undefined ? this.hunks(uri) : [hunk];
    const retyped = this.#side(uri) === this.#applied ? this.#applied.countRetyped(uri.fsPath, hunks) : 0;
    this.#report(uri, "retyped", retyped);
    this.#report(uri, "kept", countLines(hunks) - retyped);
    this.#side(uri)?.keep(uri.fsPath, hunk);
    this.#settle(uri, "kept");
  }

  /** Undoes a hunk, default: all of the document, which `redo` brings back. */
  async undo(uri: vscode.Uri, hunk?: Hunk): Promise<void> {
    if (hunk === undefined) this.#undone = [];
    await this.#undo(uri, hunk);
  }

  /** Number of files that `redo` brings back. */
  get undoneCount(): number {
    return this.#undone.length;
  }

  /** Redoes the last undo of whole files. Continues with the others when a file has changed, and rejects at the end. */
  async redo(): Promise<void> {
    const texts = this.#undone;
    this.#undone = [];
    const settle = ({ path, isGone }: ReviewedText): void => this.#settle(appliedUri(path, isGone), "redone");
    await all(texts.map((text) => this.#applied.redoFile(text).then(() => settle(text))));
  }

  async #undo(uri: vscode.Uri, hunk?: Hunk): Promise<void> {
    const hunks = hunk === undefined ? this.hunks(uri) : [hunk];
    const text = this.find(uri);
    await this.#side(uri)?.undo(uri.fsPath, hunk);
    this.#report(uri, "undone", countLines(hunks));
    if (text === undefined || this.find(uri) !== undefined) return;
    this.#settle(uri, "undone");
    if (hunk !== undefined || uri.scheme === PROPOSAL_SCHEME) return;
    this.#undone = [...this.#undone, text];
    this.#changed.fire(uri);
  }

  /** Reads a file again that may have changed or gone without an event. */
  async refresh(uri: vscode.Uri): Promise<void> {
    if (this.#side(uri) === this.#applied) await this.#applied.refresh(uri.fsPath);
  }

  keepAll(): void {
    for (const uri of this.documents) this.keep(uri);
  }

  /** Continues with the others when a file cannot be changed, and rejects with the first reason at the end. */
  async undoAll(): Promise<void> {
    this.#undone = [];
    await all(this.documents.map((uri) => this.#undo(uri)));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #report({ fsPath: path }: vscode.Uri, outcome: HermesReviewed["outcome"], lines: number): void {
    if (lines > 0) this.#decided.fire({ path, outcome, lines });
  }

  /** A proposal is no edit yet: its call fails when the user rejects it. */
  #settle(uri: vscode.Uri, outcome: ReviewedEvent["outcome"]): void {
    if (this.#side(uri) === this.#applied) this.#settled.fire({ kind: "reviewed", path: uri.fsPath, outcome });
  }

  #side(uri: vscode.Uri): Reviewable | undefined {
    if (uri.scheme === PROPOSAL_SCHEME) return this.#proposals;
    return ["file", "untitled", GONE_SCHEME].includes(uri.scheme) ? this.#applied : undefined;
  }
}

function countLines(hunks: readonly Hunk[]): number {
  return hunks.reduce((sum, { oldLines, newLines }) => sum + oldLines.length + newLines.length, 0);
}

/** Document with the old text of a document under review. */
export function originalUri(uri: vscode.Uri): vscode.Uri {
  return uri.with({ scheme: uri.scheme === PROPOSAL_SCHEME ? ACCEPTED_SCHEME : BASELINE_SCHEME });
}

export function proposalUri(path: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: PROPOSAL_SCHEME });
}

function appliedUri(path: string, isGone: true | undefined): vscode.Uri {
  const uri = vscode.Uri.file(path);
  return isGone ? uri.with({ scheme: GONE_SCHEME }) : uri;
}

function summary(text: ReviewedText, isWaiting: boolean): ReviewedFile {
  const { hunks } = text;
  return {
    path: text.path,
    label: vscode.workspace.asRelativePath(text.path),
    isWaiting,
    pendingHunks: hunks.length,
    added: hunks.reduce((sum, hunk) => sum + hunk.newLines.length, 0),
    removed: hunks.reduce((sum, hunk) => sum + hunk.oldLines.length, 0),
  };
}
