import { crc32, deflateSync } from "node:zlib";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

type Call = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;

/** A picture of this size, with stripes. Pixels. */
function pngOf(width: number, height: number): string {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(body.length + 8);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), body.length + 4);
    return frame;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8); // 8 bits, grey
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) rows.fill(y % 20 < 10 ? 0x55 : 0xcc, y * (width + 1) + 1, (y + 1) * (width + 1));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat(parts).toString("base64");
}

const SCRIPT = `from hermes_tools import read_file, search_files

for path in search_files("TODO").splitlines():
    print(path, len(read_file(path)))  # one line each
`;

// Cards of the web, browser and code tools, fed with updates of the agent: no agent runs.
describe("cards of tool calls", () => {
  const panel = useFedPanel();

  const card = (id: string) => panel().locator(`[data-tool-call="${id}"]`);
  const show = (toolCallId: string, facts: Omit<Call, "sessionUpdate" | "toolCallId">) =>
    panel().update({ sessionUpdate: "tool_call", toolCallId, ...facts });
  const link = (title: string, uri: string) =>
    ({ type: "content", content: { type: "resource_link", name: title, title, uri } }) as const;
  const text = (shown: string) => ({ type: "content", content: { type: "text", text: shown } }) as const;
  const picture = {
    type: "content",
    content: { type: "image", mimeType: "image/png", data: pngOf(640, 400) },
  } as const;
  const fits = async (): Promise<void> => {
    for (const width of [200, 320]) {
      await panel().setWidth(width);
      expect(await panel().locator("body").evaluate(TOO_WIDE), `${width} px`).toEqual([]);
    }
  };

  beforeEach(async () => {
    await panel().reset();
    await panel().feed({ kind: "prompt", id: "p", text: "Find out" });
  });

  test("pages and results of a search are links, with their text in a fold", async () => {
    await show("search", {
      title: "Search the web for parser generators",
      kind: "fetch",
      status: "completed",
      name: "web_search",
      content: [
        link("A comparison of parser generators", "https://example.com/parsers?page=1"),
        link("Not a page", "command:workbench.action.quit"),
        text("```\n1. A comparison of parser generators\n```"),
      ],
    });
    await card("search").getByRole("button").first().click();
    const pages = card("search").getByRole("list", { name: "Pages" });
    expect(await pages.getByRole("link").allTextContents()).toEqual(["A comparison of parser generators"]);
    expect(await pages.textContent()).toContain("example.com");
    await pages.getByRole("link").click();
    await expect
      .poll(() => panel().posted.at(-1))
      .toEqual({ type: "open-link", href: "https://example.com/parsers?page=1" });
    expect(await card("search").locator("pre").count()).toBe(0);
    await card("search").getByRole("button", { name: "Text" }).click();
    await card("search").locator("pre").waitFor();
    await fits();
    await panel().pictures("card-search");
  });

  test("a script has its code in colours, its calls and its output", async () => {
    await show("script", {
      title: "Run Python: for path in search_files",
      kind: "execute",
      status: "completed",
      name: "execute_code",
      rawInput: { code: SCRIPT },
      content: [text("```\nsrc/a.ts 120\n[exit code 0, 0.3 s; 2 tool calls]\n```")],
    });
    for (const [number, title] of ["Search for TODO", "Read src/a.ts"].entries()) {
      const hermes = { parentToolCallId: "script" };
      await show(`script/${number}`, { title, kind: "read", status: "completed", _meta: { hermes } });
    }
    await card("script").getByRole("button").first().click();
    await card("script").locator(".tool-script .hljs-keyword").first().waitFor();
    expect(
      await card("script").getByRole("list", { name: "Tool calls" }).getByRole("listitem").allTextContents(),
    ).toEqual(["Search for TODOdone", "Read src/a.tsdone"]);
    await card("script").getByText("src/a.ts 120").waitFor();
    expect(await panel().locator("[data-entry]").count()).toBe(2);
    await fits();
    await panel().pictures("card-script");
  });

  test("a picture is a thumbnail that opens large in the editor", async () => {
    await show("shot", {
      title: "Look at the page",
      kind: "fetch",
      status: "completed",
      name: "vision",
      content: [picture],
    });
    await panel().pictures("card-picture");
    await card("shot").getByTitle("Open Large in the Editor").press("Enter");
    await expect
      .poll(() => panel().posted.at(-1))
      .toMatchObject({ type: "open-picture", mimeType: "image/png", data: expect.stringMatching(/^iVBOR/) });
  });

  test("only the last picture of the browser is open", async () => {
    const facts: Pick<Call, "kind" | "status" | "content"> = { kind: "fetch", status: "completed", content: [picture] };
    await show("b1", { title: "Open example.com", name: "browser_navigate", ...facts });
    await card("b1").locator("img").first().waitFor();
    await show("b2", { title: "Click Sign in", name: "browser_click", ...facts });
    await card("b2").locator("img").first().waitFor();
    await card("b1").locator("img").first().waitFor({ state: "detached" });
    await panel().pictures("card-browser");
  });

  test("finished reads fold into one line, which opens to their cards and is found by their texts", async () => {
    for (const path of ["a.ts", "b.ts", "c.ts"]) {
      await show(path, {
        title: `Read ${path}`,
        kind: "read",
        status: "completed",
        content: [text(`text of ${path}`)],
      });
    }
    await panel()
      .page.locator(".row", { has: card("b.ts") })
      .focus();
    await show("s", { title: "Search for total", kind: "search", status: "completed", content: [text("2 hits")] });
    await show("e", { title: "Edit a.ts", kind: "edit", status: "completed" });
    const line = panel().locator('button.fold-summary:has-text("3 reads, 1 search")');
    await line.waitFor();
    expect(await card("b.ts").count()).toBe(0);
    await panel().locator(".transcript:focus").waitFor();
    await fits();
    await panel().pictures("reads-folded");
    await line.click();
    await card("b.ts").waitFor();
    await line.click();
    await card("b.ts").waitFor({ state: "detached" });
  });
});
