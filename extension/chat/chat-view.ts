/** The chat panel as a view of VS Code: page in, checked messages out. */
import type * as vscode from "vscode";
import type { PanelMessage } from "../../webview/panel-protocol.ts";
import type { PanelConnection } from "./panel-connection.ts";
import { panelHtml } from "./panel-html.ts";
import { parsePanelMessage } from "./panel-message.ts";

/** Messages that ask the extension for something; the view answers the others itself. */
export type PanelRequest = Exclude<PanelMessage, { type: "ack" | "command-done" }>;

export class ChatView implements vscode.WebviewViewProvider {
  readonly #root: vscode.Uri;
  readonly #panel: PanelConnection;
  readonly #handle: (message: PanelRequest) => void;
  #view: vscode.WebviewView | undefined;

  /** `root` is the folder of the panel's bundle; `handle` acts on what the panel asks for. */
  constructor(root: vscode.Uri, panel: PanelConnection, handle: (message: PanelRequest) => void) {
    this.#root = root;
    this.#panel = panel;
    this.#handle = handle;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [this.#root] };
    webview.onDidReceiveMessage((raw: unknown) => this.#receive(view, raw));
    const detach = (): void => {
      if (this.#view === view) this.#panel.detach();
    };
    view.onDidDispose(detach);
    // VS Code ends the script of a hidden view; a view that is shown again reports `ready`.
    view.onDidChangeVisibility(() => !view.visible && detach());
    webview.html = panelHtml(webview, this.#root);
  }

  /** A number on the view's icon, for what waits for the user. */
  badge(count: number): void {
    if (this.#view === undefined) return;
    this.#view.badge = count > 0 ? { value: count, tooltip: `${count} waiting for your answer` } : undefined;
  }

  #receive(view: vscode.WebviewView, raw: unknown): void {
    const message = parsePanelMessage(raw);
    if (message === undefined || this.#view !== view) return;
    if (message.type === "ack") this.#panel.acknowledge(message.epoch, message.next);
    else if (message.type === "command-done") this.#panel.commandDone(message.id);
    else this.#act(view, message);
  }

  #act(view: vscode.WebviewView, message: PanelRequest): void {
    if (message.type === "ready") {
      this.#panel.attach((sent) => void view.webview.postMessage(sent), message.epoch, message.next);
    }
    this.#handle(message);
  }
}
