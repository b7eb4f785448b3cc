/** The chat panel as a view of VS Code: page in, checked messages out. */
import type * as vscode from "vscode";
import type { PanelMessage } from "../../webview/panel-protocol.ts";
import type { EventLog } from "./event-log.ts";
import { panelHtml } from "./panel-html.ts";
import { parsePanelMessage } from "./panel-message.ts";

export class ChatView implements vscode.WebviewViewProvider {
  readonly #root: vscode.Uri;
  readonly #log: EventLog;
  readonly #handle: (message: PanelMessage) => void;
  #view: vscode.WebviewView | undefined;

  /** `root` is the folder of the panel's bundle; `handle` acts on what the panel asks for. */
  constructor(root: vscode.Uri, log: EventLog, handle: (message: PanelMessage) => void) {
    this.#root = root;
    this.#log = log;
    this.#handle = handle;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [this.#root] };
    webview.onDidReceiveMessage((raw: unknown) => this.#receive(view, raw));
    view.onDidDispose(() => {
      if (this.#view === view) this.#log.detach();
    });
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
    if (message.type === "ready") {
      this.#log.attach((events) => void view.webview.postMessage(events), message.epoch, message.next);
    } else if (message.type === "ack") {
      this.#log.acknowledge(message.epoch, message.next);
      return;
    }
    this.#handle(message);
  }
}
