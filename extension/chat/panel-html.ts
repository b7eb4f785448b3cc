/** The panel's page: nothing but our own bundle may run or load in it. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** `root` is the folder of the panel's bundle. */
export function panelHtml(webview: vscode.Webview, root: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${webview.cspSource}`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
    "connect-src 'none'",
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
