/** Where the keys for hunks act: at the caret; just after they went somewhere, there. */
import * as vscode from "vscode";

export type CaretPlace = { readonly uri: vscode.Uri; readonly line: number };

/** VS Code tells of an editor that it has opened, and of its caret, later than it shows them. Milliseconds. */
const LAG_MS = 2_000;

export class HunkCaret implements vscode.Disposable {
  #revealed: (CaretPlace & { readonly at: number }) | undefined;
  readonly #subscription = vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
    const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
    if (kind === Keyboard || kind === Mouse) this.#revealed = undefined;
  });

  /** A hunk has just been shown there. */
  went(place: CaretPlace): void {
    this.#revealed = { ...place, at: Date.now() };
  }

  get place(): CaretPlace | undefined {
    const revealed = this.#revealed;
    if (revealed !== undefined && Date.now() - revealed.at < LAG_MS) return revealed;
    const editor = vscode.window.activeTextEditor;
    return editor && { uri: editor.document.uri, line: editor.selection.active.line };
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
