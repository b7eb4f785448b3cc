/** Read-only documents for texts that are not in a file: baselines, proposals and checkpoints. */
import * as vscode from "vscode";
import { findDocument } from "../documents/read-text.ts";
import {
  ACCEPTED_SCHEME,
  BASELINE_SCHEME,
  GONE_SCHEME,
  originalUri,
  PROPOSAL_SCHEME,
  proposalUri,
  type Review,
} from "./review.ts";

/** Baselines, and proposals with their accepted part. */
export class OriginalDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #review: Review;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  /** Texts that VS Code has, by URI: a large one travels only when it has changed. */
  readonly #provided = new Map<string, string>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChange = this.#changed.event;

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#changed,
      review.onDidChange((uri) => {
        for (const changed of [originalUri(uri), uri]) {
          const provided = this.#provided.get(changed.toString());
          if (provided !== undefined && provided !== this.#textOf(changed)) this.#changed.fire(changed);
        }
      }),
      ...[BASELINE_SCHEME, ACCEPTED_SCHEME, PROPOSAL_SCHEME, GONE_SCHEME].map((scheme) =>
        vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      ),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const text = this.#textOf(uri);
    this.#provided.set(uri.toString(), text);
    return text;
  }

  #textOf(uri: vscode.Uri): string {
    const { fsPath: path } = uri;
    if (uri.scheme === GONE_SCHEME) return "";
    if (uri.scheme === BASELINE_SCHEME) {
      // After the review, a diff that is still open shows no difference.
      return this.#review.find(vscode.Uri.file(path))?.baseline ?? findDocument(path)?.getText() ?? "";
    }
    const proposal = this.#review.find(proposalUri(path));
    return (uri.scheme === PROPOSAL_SCHEME ? proposal?.present : proposal?.baseline) ?? "";
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

const CHECKPOINT_SCHEME = "hermes-checkpoint";

/** `text`: null when the file did not exist. `isThere`: the file exists now. */
export type CheckpointText = { readonly path: string; readonly text: string | null; readonly isThere: boolean };

/** Texts of files at a checkpoint, as documents to compare with. */
export class CheckpointDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;
  #texts = new Map<string, string>();

  readonly onDidChange = this.#changed.event;

  constructor() {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(CHECKPOINT_SCHEME, this);
  }

  provideTextDocumentContent({ fsPath }: vscode.Uri): string {
    return this.#texts.get(fsPath) ?? "";
  }

  /** Opens the present files next to these texts, all in one editor. */
  async show(title: string, files: readonly CheckpointText[]): Promise<void> {
    this.#texts = new Map(files.map(({ path, text }) => [vscode.Uri.file(path).fsPath, text ?? ""]));
    const resources = files.map(({ path, text, isThere }) => {
      const uri = vscode.Uri.file(path);
      const then = uri.with({ scheme: CHECKPOINT_SCHEME });
      // An open document may show the text of another checkpoint.
      this.#changed.fire(then);
      return [uri, isThere ? uri : undefined, text === null ? undefined : then];
    });
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
