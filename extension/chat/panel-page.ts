/** The panel's page in a webview of VS Code: its HTML, and the action of each of its messages. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import type { ChatPanel, Panels } from "./panels.ts";

/** Messages with an action. `servePage` itself handles the others; `ready` attaches the panel. */
export type PanelRequest = Exclude<PanelMessage, { type: "ack" | "command-done" | "focus" | "has-focus" }>;

export type PanelActions = {
  readonly [T in PanelRequest["type"]]: (message: Extract<PanelRequest, { type: T }>) => unknown;
};

export type PageParts = {
  /** Folder of the panel's bundle. */
  readonly root: vscode.Uri;
  readonly panels: Panels;
  /** Actions of a panel, until they are disposed of. */
  readonly actionsOf: (
    panel: ChatPanel,
    webview: vscode.Webview,
  ) => { readonly actions: PanelActions; dispose(): void };
  readonly log: vscode.LogOutputChannel;
};

/** Shows the page of `panel`, until the result is disposed. Messages of a page that is gone are dropped. */
export function servePage(webview: vscode.Webview, panel: ChatPanel, parts: PageParts): vscode.Disposable {
  const { root, panels, log } = parts;
  const page = parts.actionsOf(panel, webview);
  webview.options = { enableScripts: true, localResourceRoots: [root] };
  const subscription = webview.onDidReceiveMessage((raw: unknown) => {
    const message = PanelMessage.safeParse(raw).data;
    if (message === undefined) return;
    if (message.type === "ack") panel.acknowledge(message.epoch, message.next);
    else if (message.type === "command-done") panel.commandDone(message.id);
    else if (message.type === "has-focus") panel.focusAnswered(message.value);
    else if (message.type === "focus") panels.focused(panel);
    else {
      if (message.type === "ready") {
        panel.attach((sent) => void webview.postMessage(sent), message.epoch, message.next);
      }
      act(page.actions, message).catch((error: unknown) => log.error(messageOf(error)));
    }
  });
  webview.html = pageHtml(webview, root, "main");
  return vscode.Disposable.from(subscription, page);
}

async function act(actions: PanelActions, message: PanelRequest): Promise<void> {
  // TypeScript cannot tie `message.type` to the type of its entry, hence the cast.
  await (actions[message.type] as (message: PanelRequest) => unknown)(message);
}

/** The page's field takes keys that come before the bundle, which takes its text over. VS Code gives the focus to the page. */
const EARLY_FOCUS =
  'const early = document.querySelector("textarea"); onfocus = () => early.focus(); if (document.hasFocus()) onfocus();';

/** HTML of a page. Its policy allows only our own bundle to run and to load. `bundle`: name of its files. */
export function pageHtml(webview: vscode.Webview, root: vscode.Uri, bundle: "main" | "learning"): string {
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
<link rel="preload" href="${address("codicon.ttf")}" as="font" type="font/ttf" crossorigin>
<link rel="stylesheet" href="${address(`${bundle}.css`)}">
<title>Hermes</title>
</head>
<body>
<div id="root"><textarea aria-label="Hermes"></textarea></div>
<script nonce="${nonce}">${EARLY_FOCUS}</script>
${textsElement()}<script type="module" nonce="${nonce}" src="${address(`${bundle}.js`)}"></script>
</body>
</html>`;
}

/** Translations for webview/texts.ts, escaped for HTML. Empty in English, the language of the code. */
function textsElement(): string {
  const { bundle } = vscode.l10n;
  if (bundle === undefined) return "";
  return `<script id="texts" type="application/json">${JSON.stringify(bundle).replaceAll("<", "\\u003c")}</script>\n`;
}
