/** Texts that files had at a checkpoint, as documents to compare with. */
import * as vscode from "vscode";

const CHECKPOINT_SCHEME = "hermes-checkpoint";

/** `text` null: there would be no file. `isThere`: there is one now. */
export type CheckpointText = { readonly path: string; readonly text: string | null; readonly isThere: boolean };

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

  /** Opens the files as they are beside these texts, all in one editor. */
  async show(title: string, files: readonly CheckpointText[]): Promise<void> {
    this.#texts = new Map(files.map(({ path, text }) => [vscode.Uri.file(path).fsPath, text ?? ""]));
    const resources = files.map(({ path, text, isThere }) => {
      const uri = vscode.Uri.file(path);
      const then = uri.with({ scheme: CHECKPOINT_SCHEME });
      // A text that is shown already may be one of another checkpoint.
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
