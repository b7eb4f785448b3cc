/** Where the keys for hunks act: at the caret; just after they went somewhere, there. */
import * as vscode from "vscode";

export type CaretPlace = { readonly uri: vscode.Uri; readonly line: number };

/** VS Code tells of an editor that it has opened, and of its caret, later than it shows them. Milliseconds. */
const LAG_MS = 2_000;

/** `asked`: the line that VS Code was asked for; the hunk may have moved since. */
type Ahead = CaretPlace & { readonly asked: number };

export class HunkCaret implements vscode.Disposable {
  /** Where keys went and VS Code has not told yet that it is there: the last one is where the caret will be. */
  #ahead: readonly Ahead[] = [];
  #wentAt = 0;
  readonly #subscriptions = [
    vscode.window.onDidChangeActiveTextEditor(() => this.#told()),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
      const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
      if (kind === Keyboard || kind === Mouse) this.#ahead = [];
      else if (textEditor === vscode.window.activeTextEditor) this.#told();
    }),
    vscode.workspace.onDidChangeTextDocument((change) => this.#follow(change)),
  ];

  /** Where the caret is as soon as `show` has brought it there. Rejects as `show` does: then it has not moved. */
  async go(place: CaretPlace, show: () => Promise<void>): Promise<void> {
    const told = toldPlace();
    const going = { ...place, asked: place.line };
    const isThere = this.#ahead.length === 0 && told !== undefined && isSame(told, place);
    this.#wentAt = Date.now();
    if (!isThere) this.#ahead = [...this.#ahead, going];
    try {
      await show();
    } catch (error) {
      this.#ahead = this.#ahead.filter((other) => other !== going);
      throw error;
    } finally {
      this.#wentAt = Date.now();
    }
  }

  /** The editor that the caret is in, if it shows this document and VS Code has told of it. */
  editorOf(uri: vscode.Uri): vscode.TextEditor | undefined {
    const isMeant = (other: vscode.Uri): boolean => other.toString() === uri.toString();
    const active = vscode.window.activeTextEditor;
    return active && isMeant(active.document.uri) && this.#ahead.every((place) => isMeant(place.uri))
      ? active
      : undefined;
  }

  get place(): CaretPlace | undefined {
    if (Date.now() - this.#wentAt >= LAG_MS) this.#ahead = [];
    return this.#ahead.at(-1) ?? toldPlace();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** News come in the order in which the keys went. */
  #told(): void {
    const now = toldPlace();
    const index = now === undefined ? -1 : this.#ahead.findIndex((place) => isSame(place, now));
    if (index >= 0) this.#ahead = this.#ahead.slice(index + 1);
    else this.#correct(now);
  }

  /** Lines that came in above at the same moment may have been there already when the caret went to its line. */
  #correct(now: CaretPlace | undefined): void {
    const [last, editor] = [this.#ahead.at(-1), vscode.window.activeTextEditor];
    if (now === undefined || last === undefined || editor === undefined) return;
    if (last.asked === last.line || !isSame({ ...last, line: last.asked }, now)) return;
    this.#ahead = [...this.#ahead.slice(0, -1), { ...last, asked: last.line }];
    const at = new vscode.Position(last.line, 0);
    editor.selection = new vscode.Selection(at, at);
  }

  /** Lines put in or taken out above move a place as they move the caret. */
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

function toldPlace(): CaretPlace | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && { uri: editor.document.uri, line: editor.selection.active.line };
}

function isSame(one: CaretPlace, other: CaretPlace): boolean {
  return one.line === other.line && one.uri.toString() === other.uri.toString();
}
