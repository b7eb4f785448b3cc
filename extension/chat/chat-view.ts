/** The side bar's view with its panel, and the number of requests and edits that wait for the user. */
import * as vscode from "vscode";
import { type PageParts, servePage } from "./panel-page.ts";

export class ChatView implements vscode.WebviewViewProvider {
  readonly #parts: PageParts;
  #view: vscode.WebviewView | undefined;
  #badge = 0;

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { sideBar } = this.#parts.panels;
    const page = servePage(view.webview, sideBar, this.#parts);
    const detach = (): void => {
      if (this.#view === view) sideBar.connection.detach();
    };
    view.onDidDispose(() => {
      detach();
      page.dispose();
    });
    // VS Code discards a hidden page. The page sends `ready` when it is shown again.
    view.onDidChangeVisibility(() => !view.visible && detach());
    this.badge(this.#badge);
  }

  badge(count: number): void {
    this.#badge = count;
    if (this.#view === undefined) return;
    this.#view.badge =
      count > 0 ? { value: count, tooltip: vscode.l10n.t("{0} waiting for your answer", count) } : undefined;
  }
}
