/** The side bar's view with its panel, and the number on its icon: requests, edits and ended jobs. */
import * as vscode from "vscode";
import type { Attention, AttentionCounter } from "../status-item.ts";
import { type PageParts, servePage } from "./panel-page.ts";

export class ChatView implements vscode.WebviewViewProvider {
  readonly #parts: PageParts;
  readonly #counter: AttentionCounter;
  #view: vscode.WebviewView | undefined;
  #attention: Attention = { waiting: 0, ended: 0 };

  constructor(parts: PageParts, counter: AttentionCounter) {
    this.#parts = parts;
    this.#counter = counter;
    counter.onDidChange((attention) => this.#badge(attention));
  }

  get isVisible(): boolean {
    return this.#view?.visible === true;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { sideBar, facts } = this.#parts.panels;
    // The agent starts while the page loads, which takes seconds after a reload of the window.
    if (facts.folder === "open") void sideBar.shown.open();
    const page = servePage(view.webview, sideBar, this.#parts);
    const detach = (): void => {
      if (this.#view === view) sideBar.detach();
    };
    view.onDidDispose(() => {
      detach();
      page.dispose();
      // VS Code refuses a badge for a view that was removed, as when the user moves it to another side bar.
      if (this.#view === view) this.#view = undefined;
    });
    // VS Code discards a hidden page. The page sends `ready` when it is shown again.
    view.onDidChangeVisibility(() => (view.visible ? this.#counter.jobsSeen() : detach()));
    this.#counter.jobsSeen();
    this.#badge(this.#attention);
  }

  #badge(attention: Attention): void {
    this.#attention = attention;
    if (this.#view === undefined) return;
    const { waiting, ended } = attention;
    const lines = [
      ...(waiting > 0 ? [vscode.l10n.t("{0} waiting for your answer", waiting)] : []),
      ...(ended > 0 ? [vscode.l10n.t("Planned jobs that ended: {0}", ended)] : []),
    ];
    this.#view.badge = lines.length > 0 ? { value: waiting + ended, tooltip: lines.join("\n") } : undefined;
  }
}
