/** The panel's own page in a real browser, without VS Code. */
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Page } from "playwright-core";
import { picturesFolder, webviewFolder } from "../../../scripts/project.ts";
import { readBundle } from "../manifest.ts";
import { sharedBrowser } from "../shared-browser.ts";
import { applyTheme, type Theme } from "./panel-theme.ts";

const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };

/** Width of the side bar and height of a usual window, in pixels. */
const VIEWPORT = { width: 380, height: 900 };

/** VS Code's end of the page: messages both ways, and the state that outlives the page. */
const VSCODE_API = `
globalThis.fromHost = (text) => new Promise((done) => {
  // The page's own listener is older, so it has handled the message by then.
  addEventListener("message", () => done(), { once: true });
  postMessage(JSON.parse(text), "*");
});
globalThis.acquireVsCodeApi = () => ({
  postMessage: (message) => globalThis.toHost(JSON.stringify(message)),
  getState: () => JSON.parse(sessionStorage.getItem("state") ?? "null") ?? undefined,
  setState: (value) => sessionStorage.setItem("state", JSON.stringify(value)),
});
`;

const SHOWN_THEMES = ["light", "dark", "high-contrast"] as const;

/** The narrowest side bar, a usual one, and a tab of the editor. Pixels. */
const SHOWN_WIDTHS = [200, 320, 900];

type PictureOptions = {
  readonly themes?: readonly Theme[];
  readonly widths?: readonly number[];
  /** The whole page, as long as it is. */
  readonly fullPage?: boolean;
};

export type PanelPageOptions = {
  /** Takes the messages that the panel posts. */
  readonly receive: (message: unknown) => void;
  /** The page of the panel, whose files have addresses that begin with `origin`; asked for at each load. */
  readonly html?: (origin: string) => string | Promise<string>;
};

export class PanelPage {
  readonly page: Page;
  /** Address of the page, without a final slash. */
  readonly origin: string;
  readonly #server: Server;

  private constructor(page: Page, server: Server) {
    this.page = page;
    this.origin = originOf(server);
    this.#server = server;
  }

  /** Opens an empty page in `browser`. Needs dist/webview. The panel itself is loaded by `load`. */
  static async open(
    { receive, html = (origin) => plainHtml(origin) }: PanelPageOptions,
    browser = sharedBrowser(),
  ): Promise<PanelPage> {
    const server = createServer(async ({ url = "/" }, response) => {
      const { pathname } = new URL(url, "http://page");
      const file = readFile(join(webviewFolder, pathname)).catch(() => undefined);
      try {
        const body = pathname === "/" ? await html(originOf(server)) : await file;
        const type = types[extname(pathname)] ?? "text/html";
        response.writeHead(body === undefined ? 404 : 200, { "content-type": type }).end(body);
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const page = await (await browser).newPage();
    await page.setViewportSize(VIEWPORT);
    await page.addInitScript(VSCODE_API);
    await page.exposeFunction("toHost", (text: string) => receive(JSON.parse(text)));
    return new PanelPage(page, server);
  }

  /** Loads the panel, as VS Code does when the view is shown. @throws the error of `html`. */
  async load(): Promise<void> {
    const response = await this.page.goto(this.origin);
    if (response?.ok() === false) throw new Error(await response.text());
  }

  /** Sends the panel a message of the host, and resolves when its state holds it. The screen follows with the next frame. */
  async send(message: unknown): Promise<void> {
    // As one text: the browser's driver takes seconds to carry a large object piece by piece.
    await this.call("fromHost", JSON.stringify(message));
  }

  /** Resolves when what the page has got is on screen. */
  async nextFrame(): Promise<void> {
    await this.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  /** Calls a global function of the page. */
  async call<Value>(name: string, argument = ""): Promise<Value> {
    return this.page.evaluate<Value, readonly [string, string]>(
      ([known, text]) => (globalThis as unknown as Record<string, (text: string) => Value>)[known]?.(text) as Value,
      [name, argument],
    );
  }

  /** Pictures at each width in each theme, where the run takes pictures: FOLDER/STATE-WIDTH-THEME.png. */
  async pictures(
    state: string,
    { themes = SHOWN_THEMES, widths = SHOWN_WIDTHS, fullPage = false }: PictureOptions = {},
  ): Promise<void> {
    if (picturesFolder === undefined) return;
    const before = this.page.viewportSize() ?? VIEWPORT;
    for (const theme of themes) {
      await applyTheme(this.page, theme);
      for (const width of widths) {
        await this.page.setViewportSize({ ...before, width });
        await this.page.screenshot({ path: join(picturesFolder, `${state}-${width}-${theme}.png`), fullPage });
      }
    }
    await this.page.setViewportSize(before);
  }

  async close(): Promise<void> {
    await this.page.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function originOf(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** A page under the policy that extension/chat/panel-page.ts sets, with the texts of this language. `bundle`: name of its files. */
export function plainHtml(origin: string, language = "en", bundle = "main"): string {
  const policy = `default-src 'none'; script-src ${origin}; style-src ${origin}; font-src ${origin}; img-src data:; connect-src 'none'`;
  return `<!DOCTYPE html>
<html lang="${language}"><head><meta charset="utf-8"><title>Hermes</title><meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/${bundle}.css"></head><body><div id="root"></div>
${language === "en" ? "" : `<script id="texts" type="application/json">${JSON.stringify(readBundle(language))}</script>`}
<script type="module" src="/${bundle}.js"></script></body></html>`;
}
