import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";
import { hasBrowser } from "../support/programs.ts";

const PAGE = `<title>The docs</title><h1>Parsers</h1><p>Call <code>parse()</code> twice.</p>
<form action="/sent"><input name=q aria-label=Product><button>Buy</button></form>`;
const FIRST = `from hermes_tools import read_file\nlines = read_file("a.txt").splitlines()\nprint(len(lines), "lines")`;
const SECOND = "print(lines[0])";

// The agent's own tools in the panel: pages of a local server, a script, and the user's browser.
describe("cards of real tools", () => {
  const model = useModelServer();
  let site: Server;
  let base = "";
  let turns = 0;
  const panel = usePanel(() =>
    openPanel({
      model: model(),
      prepare: ({ home }) => {
        const path = join(home, "config.yaml");
        const config = JSON.parse(readFileSync(path, "utf8"));
        const own = { web: { allow_private_urls: true }, approvals: { mode: "off" } };
        writeFileSync(path, JSON.stringify({ ...config, ...own }));
      },
    }),
  );
  const card = (title: string) => panel().toolCalls().filter({ hasText: title }).first();
  const fits = async (): Promise<void> => {
    for (const width of [200, 320]) {
      await panel().setWidth(width);
      expect(await panel().page.locator("body").evaluate(TOO_WIDE), `${width} px`).toEqual([]);
    }
  };
  /** Runs these calls in one turn, one after the other. */
  const run = async (...calls: ReturnType<typeof call>[]): Promise<void> => {
    turns += 1;
    model().script(...calls.map((each) => callTools(each)), say(`End of turn ${turns}.`));
    await panel().send("Find out");
    await panel().page.getByText(`End of turn ${turns}.`).last().waitFor();
    await panel().idle();
  };

  beforeAll(async () => {
    site = createServer((_, response) => response.setHeader("content-type", "text/html").end(PAGE));
    await once(site.listen(0, "127.0.0.1"), "listening");
    base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  test("a page that was read is a link, with its text in a fold", async () => {
    await run(call("web_extract", { urls: [`${base}/docs`] }));
    await card("/docs").getByRole("button").first().click();
    const pages = card("/docs").getByRole("list", { name: "Pages" });
    await expect.poll(() => pages.getByRole("link").allTextContents()).toEqual(["The docs"]);
    await card("/docs").getByRole("button", { name: "Text" }).click();
    await expect.poll(() => card("/docs").locator("pre").textContent()).toContain("Call `parse()` twice.");
    await fits();
    await panel().pictures("real-page");
  });

  test("a script has its code, its calls and its output, and the next one has its variables", async () => {
    await run(call("execute_code", { code: FIRST }), call("execute_code", { code: SECOND }));
    await card("Run Python: lines =").getByRole("button").first().click();
    await card("Run Python: lines =").locator(".tool-script .hljs-keyword").first().waitFor();
    const nested = card("Run Python: lines =").getByRole("list", { name: "Tool calls" }).getByRole("listitem");
    await expect.poll(() => nested.allTextContents()).toEqual([expect.stringContaining("Read a.txt")]);
    await expect.poll(() => card("Run Python: lines =").textContent()).toContain("3 lines");
    await card("Run Python: print(lines[0])").getByRole("button").first().click();
    await expect.poll(() => card("Run Python: print(lines[0])").textContent()).toContain("1|one");
    await fits();
    await panel().pictures("real-script");
  });

  test.runIf(hasBrowser())("the browser shows its last picture", async () => {
    await run(call("browser_navigate", { url: base }), call("browser_type", { ref: "@e1", text: "Tea" }));
    await card("Type").locator("img").first().waitFor();
    await card("Open ").locator("img").first().waitFor({ state: "detached" });
    await fits();
    await panel().pictures("real-browser");
  });
});
