/** Place at which the keys for hunks act: the caret, or the place to which the last key moved it. */
import * as vscode from "vscode";

export type CaretPlace = { readonly uri: vscode.Uri; readonly line: number };

/** VS Code reports an opened editor and its caret up to this much later than it shows them. Milliseconds. */
const LAG_MS = 2_000;

/** `asked`: line that VS Code was asked to show; the hunk may have moved since. */
type Ahead = CaretPlace & { readonly asked: number };

export class HunkCaret implements vscode.Disposable {
  /** Places that VS Code has not reported yet; the caret will be at the last one. */
  #ahead: readonly Ahead[] = [];
  #wentAt = 0;
  /** Place of the last key, from which the next one goes on while VS Code reports no editor. */
  last: CaretPlace | undefined;
  readonly #subscriptions = [
    vscode.window.onDidChangeActiveTextEditor(() => this.#reported()),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
      const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
      if (kind === Keyboard || kind === Mouse) this.#ahead = [];
      else if (textEditor === vscode.window.activeTextEditor) this.#reported();
    }),
    vscode.workspace.onDidChangeTextDocument((change) => this.#follow(change)),
  ];

  /** Moves to a place, which `show` shows. Rejects as `show` does; then the caret has not moved. */
  async go(place: CaretPlace, show: () => Promise<void>): Promise<void> {
    const reported = reportedPlace();
    const going = { ...place, asked: place.line };
    const isThere = this.#ahead.length === 0 && reported !== undefined && isSame(reported, place);
    this.#wentAt = Date.now();
    if (!isThere) this.#ahead = [...this.#ahead, going];
    try {
      await show();
      this.last = place;
    } catch (error) {
      this.#ahead = this.#ahead.filter((other) => other !== going);
      throw error;
    } finally {
      this.#wentAt = Date.now();
    }
  }

  /** Active editor, if it shows this document and VS Code has reported it. */
  editorOf(uri: vscode.Uri): vscode.TextEditor | undefined {
    const isMeant = (other: vscode.Uri): boolean => other.toString() === uri.toString();
    const active = vscode.window.activeTextEditor;
    return active && isMeant(active.document.uri) && this.#ahead.every((place) => isMeant(place.uri))
      ? active
      : undefined;
  }

  get place(): CaretPlace | undefined {
    if (Date.now() - this.#wentAt >= LAG_MS) this.#ahead = [];
    return this.#ahead.at(-1) ?? reportedPlace();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Handles a report of VS Code; reports arrive in the order of the keys. */
  #reported(): void {
    const now = reportedPlace();
    const index = now === undefined ? -1 : this.#ahead.findIndex((place) => isSame(place, now));
    if (index >= 0) this.#ahead = this.#ahead.slice(index + 1);
    else this.#correct(now);
  }

  /** Corrects the caret's line, when lines were inserted above it while VS Code moved it. */
  #correct(now: CaretPlace | undefined): void {
    const [last, editor] = [this.#ahead.at(-1), vscode.window.activeTextEditor];
    if (now === undefined || last === undefined || editor === undefined) return;
    if (last.asked === last.line || !isSame({ ...last, line: last.asked }, now)) return;
    this.#ahead = [...this.#ahead.slice(0, -1), { ...last, asked: last.line }];
    const at = new vscode.Position(last.line, 0);
    editor.selection = new vscode.Selection(at, at);
  }

  /** Moves the places when lines above them are inserted or removed. */
  #follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    for (const { range, text } of contentChanges) {
      const lines = text.split("\n").length - 1 - (range.end.line - range.start.line);
      this.#ahead = this.#ahead.map((place) => {
        const isAbove = range.end.line < place.line || (range.end.line === place.line && range.end.character === 0);
        return isAbove && place.uri.toString() === document.uri.toString()
          ? { ...place, line: Math.max(range.start.line, place.line + lines) }
          : place;
      });
    }
  }
}

function reportedPlace(): CaretPlace | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && { uri: editor.document.uri, line: editor.selection.active.line };
}

function isSame(one: CaretPlace, other: CaretPlace): boolean {
  return one.line === other.line && one.uri.toString() === other.uri.toString();
}
