/** The panel's own page in a real browser, without VS Code: what it posts comes here, what is sent here it receives. */

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import type { HostMessage } from "../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { chromiumArguments, ensureChromium } from "../../scripts/chromium.ts";
import { webviewFolder } from "../../scripts/project.ts";

/** What the page may load and run; the panel's own page in VS Code says the same (extension/chat/panel-html.ts). */
const POLICY =
  "default-src 'none'; script-src 'self' 'nonce-page'; style-src 'self'; font-src 'self'; connect-src 'none'";

const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };

/** The side bar's width and the height of a usual window. Pixels. */
const VIEWPORT = { width: 380, height: 900 };

const html = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<link rel="stylesheet" href="/main.css"></head><body><div id="root"></div>
<script nonce="page">
const kept = { value: undefined };
globalThis.fromHost = (text) => postMessage(JSON.parse(text), "*");
globalThis.acquireVsCodeApi = () => ({
  postMessage: (message) => globalThis.toHost(message),
  getState: () => kept.value,
  setState: (value) => { kept.value = value; },
});
</script>
<script type="module" nonce="page" src="/main.js"></script></body></html>`;

export class PanelPage {
  readonly page: Page;
  readonly #server: Server;
  readonly #browser: Browser;

  private constructor(page: Page, server: Server, browser: Browser) {
    this.page = page;
    this.#server = server;
    this.#browser = browser;
  }

  /** Opens a browser with an empty page. Needs dist/webview; the panel itself is loaded by `load`. */
  static async open(receive: (message: PanelMessage) => void): Promise<PanelPage> {
    const server = createServer(async ({ url = "/" }, response) => {
      const { pathname } = new URL(url, "http://page");
      const isPage = pathname === "/";
      const body = isPage ? html : await readFile(join(webviewFolder, pathname)).catch(() => undefined);
      response
        .writeHead(body === undefined ? 404 : 200, { "content-type": types[extname(pathname)] ?? "text/html" })
        .end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await chromium.launch({ executablePath: await ensureChromium(), args: [...chromiumArguments] });
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.exposeFunction("toHost", receive);
    return new PanelPage(page, server, browser);
  }

  /** Loads the panel, as VS Code does when the view is shown. */
  async load(): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    await this.page.goto(`http://127.0.0.1:${port}/`);
  }

  /** Hands the panel a message of the host. */
  async send(message: HostMessage): Promise<void> {
    // As one text: the browser's driver takes seconds to carry a large object piece by piece.
    await this.call("fromHost", JSON.stringify(message));
  }

  /** Calls a global function of the page. */
  async call<Value>(name: string, argument = ""): Promise<Value> {
    return this.page.evaluate<Value, readonly [string, string]>(
      ([known, text]) => (globalThis as unknown as Record<string, (text: string) => Value>)[known]?.(text) as Value,
      [name, argument],
    );
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#server.close();
  }
}
