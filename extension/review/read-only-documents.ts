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

/** Provides baselines, and proposals with their accepted part, until the result is disposed of. */
export function provideOriginals(review: Review): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  /** Texts that VS Code has, by URI: a large one travels only when it has changed. */
  const provided = new Map<string, string>();
  const provideTextDocumentContent = (uri: vscode.Uri): string => {
    const text = originalText(review, uri);
    provided.set(uri.toString(), text);
    return text;
  };
  return vscode.Disposable.from(
    changed,
    review.onDidChange((uri) => {
      for (const one of [originalUri(uri), uri]) {
        const known = provided.get(one.toString());
        if (known !== undefined && known !== originalText(review, one)) changed.fire(one);
      }
    }),
    ...[BASELINE_SCHEME, ACCEPTED_SCHEME, PROPOSAL_SCHEME, GONE_SCHEME].map((scheme) =>
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: changed.event,
        provideTextDocumentContent,
      }),
    ),
  );
}

function originalText(review: Review, { scheme, fsPath: path }: vscode.Uri): string {
  if (scheme === GONE_SCHEME) return "";
  // After the review, a diff that is still open shows no difference.
  if (scheme === BASELINE_SCHEME)
    return review.find(vscode.Uri.file(path))?.baseline ?? findDocument(path)?.getText() ?? "";
  const proposal = review.find(proposalUri(path));
  return (scheme === PROPOSAL_SCHEME ? proposal?.present : proposal?.baseline) ?? "";
}

const CHECKPOINT_SCHEME = "hermes-checkpoint";

/** `text`: null where the file does not exist. `isThere`: the file exists now. */
type CheckpointText = { readonly path: string; readonly text: string | null; readonly isThere: boolean };

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

  /** Opens the present files next to these texts, all in one editor: texts from before them, or those that a restore gives. */
  async show(title: string, files: readonly CheckpointText[], { areBefore = false } = {}): Promise<void> {
    this.#texts = new Map(files.map(({ path, text }) => [vscode.Uri.file(path).fsPath, text ?? ""]));
    const resources = files.map(({ path, text, isThere }) => {
      const uri = vscode.Uri.file(path);
      const then = uri.with({ scheme: CHECKPOINT_SCHEME });
      // An open document may show the text of another checkpoint.
      this.#changed.fire(then);
      const sides = [isThere ? uri : undefined, text === null ? undefined : then];
      return [uri, ...(areBefore ? sides.reverse() : sides)];
    });
    await vscode.commands.executeCommand("vscode.changes", title, resources);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
