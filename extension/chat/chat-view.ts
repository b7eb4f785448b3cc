/** The chat panel as a view of VS Code: shows the page, parses its messages and runs the action of each. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import type { PanelConnection } from "./panel-connection.ts";

/** Messages with an action. The view handles the other two itself, and attaches the panel on `ready`. */
export type PanelRequest = Exclude<PanelMessage, { type: "ack" | "command-done" }>;

/** One action for each of these types of messages. */
export type PanelActions<Type extends PanelRequest["type"] = PanelRequest["type"]> = {
  readonly [T in Type]: (message: Extract<PanelRequest, { type: T }>) => unknown;
};

export class ChatView implements vscode.WebviewViewProvider {
  readonly #root: vscode.Uri;
  readonly #panel: PanelConnection;
  readonly #actions: PanelActions;
  readonly #log: vscode.LogOutputChannel;
  #view: vscode.WebviewView | undefined;
  #badge = 0;

  /** `root` is the folder of the panel's bundle. */
  constructor(root: vscode.Uri, panel: PanelConnection, actions: PanelActions, log: vscode.LogOutputChannel) {
    this.#root = root;
    this.#panel = panel;
    this.#actions = actions;
    this.#log = log;
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
    // VS Code discards a hidden page. The page sends `ready` when it is shown again.
    view.onDidChangeVisibility(() => !view.visible && detach());
    webview.html = panelHtml(webview, this.#root);
    this.badge(this.#badge);
  }

  /** Shows the number of requests and edits that wait for the user. */
  badge(count: number): void {
    this.#badge = count;
    if (this.#view === undefined) return;
    this.#view.badge = count > 0 ? { value: count, tooltip: `${count} waiting for your answer` } : undefined;
  }

  #receive(view: vscode.WebviewView, raw: unknown): void {
    const message = PanelMessage.safeParse(raw).data;
    if (message === undefined || this.#view !== view) return;
    if (message.type === "ack") this.#panel.acknowledge(message.epoch, message.next);
    else if (message.type === "command-done") this.#panel.commandDone(message.id);
    else {
      if (message.type === "ready") {
        this.#panel.attach((sent) => void view.webview.postMessage(sent), message.epoch, message.next);
      }
      this.#act(message).catch((error: unknown) => this.#log.error(messageOf(error)));
    }
  }

  async #act(message: PanelRequest): Promise<void> {
    // PanelActions types each entry. TypeScript cannot tie `message.type` to its entry, hence the cast.
    const act = this.#actions[message.type] as (message: PanelRequest) => unknown;
    await act(message);
  }
}

/** The page of the panel. Its policy allows only our own bundle to run and to load. */
function panelHtml(webview: vscode.Webview, root: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${webview.cspSource}`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${address("main.css")}">
<title>Hermes</title>
</head>
<body>
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${address("main.js")}"></script>
</body>
</html>`;
}
