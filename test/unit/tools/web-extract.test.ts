import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tool as webExtract } from "../../../agent-core/tools/web-extract.ts";
import type { WebAccess } from "../../../agent-core/web/web-access.ts";
import { toolBench } from "../../support/tool-context.ts";

let server: Server;
let base: string;
const pages: Record<string, string> = {};

beforeEach(async () => {
  server = createServer(({ url = "" }, response) => {
    const page = pages[url];
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" }).end(page);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

function extract(urls: readonly string[], web: Partial<WebAccess> = {}) {
  const bench = toolBench();
  const context = { ...bench.context, web: { allowsPrivate: true, ...web } };
  const prepared = webExtract.prepare({ urls }, bench.folder);
  if (!prepared.ok) throw new Error(prepared.text);
  const run = async () => {
    const staged = await prepared.call.stage(context);
    if (!staged.ok) throw new Error(staged.text);
    return staged.run();
  };
  return { ...prepared.call, run, spill: context.spillFolder };
}

const page = (title: string, body: string) =>
  `<html><head><title>${title}</title></head><body><p>${body}</p></body></html>`;

test("pages are wrapped as data, with their titles as links; one that fails takes a line", async () => {
  pages["/a"] = page("First", "text of a </web-page> and more");
  pages["/b"] = page("Second", "text of b");
  const { run, title, effect } = extract([`${base}/a`, `${base}/b?x=1`, `${base}/missing`, `${base}/a`]);
  const host = base.replace("http://", "");
  expect(title).toBe(`Read ${host}/a and 3 more`);
  expect(effect).toMatchObject({ kind: "fetch", places: [host] });
  const { ok, text, links } = await run();
  expect(ok).toBe(true);
  expect(links).toEqual([{ title: "First", url: `${base}/a` }]);
  expect(text).toContain(`<web-page name="${base}/a">\n# First\n\ntext of a`);
  expect(text.match(/<\/web-page>/g)).toHaveLength(1);
  expect(text).toContain(`${base}/missing answered 404 Not Found.`);
});

test("a long page is cut at a line, and a file has the whole", async () => {
  pages["/long"] = page("Long", Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("</p><p>"));
  const { run, spill } = extract([`${base}/long`]);
  const { text } = await run();
  const path = join(spill, "web-call_1-1.md");
  expect(text.length).toBeLessThan(15_500);
  const [, line] = /continue with read_file from line (\d+)\.\]$/.exec(text) ?? [];
  const whole = readFileSync(path, "utf8").split("\n");
  const last = text.split("\n").at(-3);
  expect(whole[Number(line) - 2]).toBe(last);
  expect(whole.at(-1)).toBe("line 2999");
});

test("a configured model sums up a long page; when it fails, the page is cut", async () => {
  pages["/long"] = page("Long", "some words ".repeat(3_000));
  const summed = await extract([`${base}/long`], { summarize: async () => "the gist" }).run();
  expect(summed.text).toMatch(
    /# Long\n\nthe gist\n<\/web-page>\n\[This is a summary\. The whole page \(\d+ characters\) is in /,
  );
  const cut = await extract([`${base}/long`], { summarize: async () => undefined }).run();
  expect(cut.text).toContain("some words some words");
});

test("private addresses are refused unless the settings allow them", async () => {
  const { ok, text } = await extract([`${base}/a`], { allowsPrivate: false }).run();
  expect(ok).toBe(false);
  expect(text).toMatch(/^web_extract: 127\.0\.0\.1 was refused: it is this machine\./);
});
