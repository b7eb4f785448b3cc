/** Everything of the agent that is up for review, by the documents it is shown in, and the verdicts on it. */
import * as vscode from "vscode";
import type { ReviewedFile } from "../../agent-core/protocol/panel-events.ts";
import type { Hunk } from "./hunks.ts";
import type { LandedEdits } from "./landed-edits.ts";
import type { Proposals } from "./proposals.ts";
import type { Reviewable } from "./reviewable.ts";
import type { ReviewedText } from "./reviewed-text.ts";

/** Documents with the text before edits that have landed, before a proposal's rest, and with that rest. */
export const BASELINE_SCHEME = "hermes-baseline";
export const ACCEPTED_SCHEME = "hermes-accepted";
export const PROPOSAL_SCHEME = "hermes-proposal";
/** Stands for a file that the agent has removed. */
export const GONE_SCHEME = "hermes-gone";

export class Review implements vscode.Disposable {
  readonly #landed: LandedEdits;
  readonly #proposals: Proposals;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable[];

  /** Tells the document (the file, or the proposal's) whose hunks changed. */
  readonly onDidChange = this.#changed.event;

  constructor(landed: LandedEdits, proposals: Proposals) {
    this.#landed = landed;
    this.#proposals = proposals;
    this.#subscriptions = [
      landed.onDidChange((path) => this.#changed.fire(landedUri(path, landed.find(path)?.isGone))),
      proposals.onDidChange((path) => this.#changed.fire(proposalUri(path))),
      this.#changed,
    ];
  }

  /** Documents with hunks: proposals first, for the agent waits for them. */
  get documents(): readonly vscode.Uri[] {
    return [
      ...this.#proposals.texts.map(({ path }) => proposalUri(path)),
      ...this.#landed.texts.map(({ path, isGone }) => landedUri(path, isGone)),
    ];
  }

  /** For lists. */
  get files(): readonly ReviewedFile[] {
    return [
      ...this.#proposals.texts.map((text) => summary(text, true)),
      ...this.#landed.texts.map((text) => summary(text, false)),
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

  keep(uri: vscode.Uri, hunk: Hunk): void {
    this.#side(uri)?.keep(uri.fsPath, hunk);
  }

  async undo(uri: vscode.Uri, hunk: Hunk): Promise<void> {
    await this.#side(uri)?.undo(uri.fsPath, hunk);
  }

  keepFile(uri: vscode.Uri): void {
    this.#side(uri)?.keepFile(uri.fsPath);
  }

  async undoFile(uri: vscode.Uri): Promise<void> {
    await this.#side(uri)?.undoFile(uri.fsPath);
  }

  /** A file under review may have changed, or gone, where nobody told of it. */
  async lookAgain(uri: vscode.Uri): Promise<void> {
    if (this.#side(uri) === this.#landed) await this.#landed.lookAgain(uri.fsPath);
  }

  keepAll(): void {
    for (const uri of this.documents) this.keepFile(uri);
  }

  /** Goes on with the others when a file cannot be changed, and rejects with the first reason then. */
  async undoAll(): Promise<void> {
    const undone = await Promise.allSettled(this.documents.map((uri) => this.undoFile(uri)));
    const failed = undone.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #side(uri: vscode.Uri): Reviewable | undefined {
    if (uri.scheme === PROPOSAL_SCHEME) return this.#proposals;
    return ["file", "untitled", GONE_SCHEME].includes(uri.scheme) ? this.#landed : undefined;
  }
}

/** The document on the other side of a document under review: the text before. */
export function originalUri(uri: vscode.Uri): vscode.Uri {
  return uri.with({ scheme: uri.scheme === PROPOSAL_SCHEME ? ACCEPTED_SCHEME : BASELINE_SCHEME });
}

export function proposalUri(path: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: PROPOSAL_SCHEME });
}

function landedUri(path: string, isGone: true | undefined): vscode.Uri {
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
