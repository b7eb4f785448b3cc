// The browser tools in a real browser, on pages of a real server. The tests of a group share one browser.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SessionBrowser } from "../../../agent-core/browser/session-browser.ts";
import { tools } from "../../../agent-core/tools/browser.ts";
import type { ToolResult } from "../../../agent-core/tools/tool.ts";
import type { WebAccess } from "../../../agent-core/web/web-access.ts";
import { processesWith } from "../../support/processes.ts";
import { hasBrowser } from "../../support/programs.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

const PAGES: Readonly<Record<string, string>> = {
  "/": `<title>Order</title><h1>Order</h1>
    <form action="/sent"><label for=n>Name</label><input id=n name=name value=old required>
    <label><input type=checkbox name=gift> Gift</label>
    <select name=land aria-label=Land><option value=de>Germany<option value=fr>France</select>
    <input type=password name=p placeholder=Password><textarea name=note aria-label=Note></textarea><button>Send</button></form>
    <div style="cursor:pointer" onclick="this.textContent='Card was clicked'">Card</div>
    <table><tr><th>Item<th>Price<tr><td>Tea<td>3 €</table>
    <p style="display:none">unseen</p><p>Seen <b>text</b></p>
    <iframe src="/frame"></iframe><a href="/report" download>Report</a> <a href="/next" target=_blank>New tab</a>`,
  "/frame": `<button onclick="this.textContent='Frame was clicked'">In frame</button>`,
  "/next": `<title>Next</title><p>The next page</p><button onclick="window.close()">Close me</button>`,
  "/dialogs": `<title>Dialogs</title><button onclick="alert('Hello')">Alert</button>
    <button onclick="document.title = confirm('Delete all?')">Confirm</button>
    <button onclick="document.title = prompt('Your name?', 'nobody')">Prompt</button>
    <input type=file aria-label=Upload>
    <button onclick="window.onbeforeunload = (e) => e.preventDefault()">Guard</button><a href="/next">Leave</a>`,
  "/opener": `<title>Opener</title>
    <button onclick="window.open('').document.body.innerHTML='Written by its opener'">Empty tab</button>`,
  "/flood": `<button onclick="for (;;) alert('again')">Flood</button>`,
  "/covered": `<button style="position:absolute;left:10px;top:10px">Below</button>
    <div id=banner style="position:fixed;inset:0;background:#fff">Cookies!</div>
    <script>console.log("hi", {a: 1}); console.error("bad"); setTimeout(() => { throw new Error("thrown") })</script>
    <img src="/p.png" alt="A picture">`,
  "/tall": `<title>Tall</title><button>First</button><div style="height:3000px"></div><button>Last</button>`,
  "/big": `<title>Big</title><ul>${Array.from(
    { length: 2_500 },
    (_, n) => `<li><a href="#${n}">Link ${n}</a> of <button>Button ${n}</button></li>`,
  ).join("")}</ul>`,
};

let base = "";
/** A server of this machine that no test opens. */
let secretPort = 0;
let secretRequests = 0;
const asked: string[] = [];
const servers: ReturnType<typeof createServer>[] = [];

async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  server.on("upgrade", ({ url = "" }, socket) => {
    asked.push(url);
    socket.destroy();
  });
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function respond({ url = "/" }: IncomingMessage, response: ServerResponse): void {
  const [path = "/", query = ""] = url.split("?");
  asked.push(path);
  response.setHeader("content-type", "text/html; charset=utf-8");
  if (path === "/report") {
    response.writeHead(200, { "content-disposition": 'attachment; filename="../../report.csv"' }).end("a,b\n1,2\n");
  } else if (path === "/sent") response.end(`<title>Sent</title><p>${query}</p>`);
  else if (path === "/elsewhere") response.writeHead(302, { location: decodeURIComponent(query) }).end();
  else if (path === "/loop") response.writeHead(302, { location: "/loop" }).end();
  else if (path === "/never")
    return; // no answer
  else if (path === "/embeds") {
    const [host, address] = [`127.0.0.1:${secretPort}`, `http://127.0.0.1:${secretPort}/part`];
    response.end(`<title>Embeds</title><img src="${address}"><iframe src="${address}"></iframe>
      <script>fetch("${address}").catch(() => 0); new WebSocket("ws://${host}/spy"); new WebSocket("ws://" + location.host + "/live"); navigator.sendBeacon("${address}", "x");
      new Worker(URL.createObjectURL(new Blob(['fetch("${address}")'])));</script>`);
  } else response.end(PAGES[path] ?? "");
}

beforeAll(async () => {
  secretPort = await serve((_request, response) => {
    secretRequests += 1;
    response.end("secret");
  });
  base = `http://localhost:${await serve(respond)}`;
});

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

class User {
  readonly bench: Bench = toolBench();
  text = "";

  async run(name: string, input: unknown = {}): Promise<ToolResult> {
    const tool = tools.find((candidate) => candidate.name === `browser_${name}`);
    if (tool === undefined) throw new Error(name);
    const result = await this.bench.run(tool, input);
    this.text = result.text;
    return result;
  }

  async open(path: string): Promise<ToolResult> {
    return this.run("navigate", { url: `${base}${path}` });
  }

  /** Ref of the element whose line contains `label` in the last result. */
  ref(label: string): string {
    const line = this.text.split("\n").find((each) => each.includes(label));
    const ref = /@e\d+/.exec(line ?? "")?.[0];
    if (ref === undefined) throw new Error(`no ref for ${label} in ${this.text}`);
    return ref;
  }

  click(label: string, dialog?: string): Promise<ToolResult> {
    return this.run("click", { ref: this.ref(label), ...(dialog !== undefined && { dialog }) });
  }
}

/** Processes of the browsers that this process started, and those of a kind. */
function browsersOf(pid: number, kind?: string): readonly number[] {
  return processesWith(
    (words) =>
      words.some((word) => word.includes(`/hermes-browser-${pid}-`)) &&
      (kind === undefined || words.join(" ").includes(`--type=${kind} `)),
  );
}

describe.runIf(hasBrowser())("in a real browser", () => {
  const user = new User();

  afterAll(() => user.bench.context.browser?.close());

  test("without an open page, tools say what to call", async () => {
    expect(await user.run("snapshot")).toEqual({ ok: false, text: "No page is open. Call browser_navigate first." });
    expect(await user.run("close")).toEqual({ ok: true, text: "No browser was running." });
    expect(browsersOf(process.pid)).toEqual([]);
  });

  test("a page is a tree with refs, and the card gets a small picture", async () => {
    const { text, media } = await user.open("/");
    expect(text.replaceAll(/@e\d+/g, "@e")).toBe(
      [
        `<web-page name="${base}/">`,
        "Title: Order",
        '- heading "Order" level=1',
        '- textbox "Name" @e value="old"',
        '- checkbox "Gift" @e',
        '- combobox "Land" @e value="Germany" options=[Germany, France]',
        '- textbox "Password" @e',
        '- textbox "Note" @e',
        '- button "Send" @e',
        '- clickable "Card" @e',
        "- table",
        "  - row: Item | Price",
        "  - row: Tea | 3 €",
        "- Seen text",
        "- iframe",
        '  - button "In frame" @e',
        '- link "Report" @e',
        '- link "New tab" @e',
        "</web-page>",
      ].join("\n"),
    );
    const [picture] = media ?? [];
    expect(picture).toMatchObject({ kind: "image", mimeType: "image/jpeg" });
    expect(picture?.data.length).toBeLessThan(60_000);
  });

  test("a form is filled with keys, and sent", async () => {
    await user.run("type", { ref: user.ref('"Name"'), text: "Ada Lovelace" });
    await user.run("type", { ref: user.ref('"Note"'), text: "two\r\nlines" });
    await user.run("type", { ref: user.ref('"Land"'), text: "France" });
    expect((await user.run("type", { ref: user.ref('"Land"'), text: "Mars" })).text).toContain(
      'has no option "Mars". It has: Germany, France.',
    );
    await user.run("snapshot");
    await user.run("type", { ref: user.ref('"Password"'), text: "s3cret" });
    await user.click('"Gift"');
    await user.click('"Card"');
    await user.click('"In frame"');
    expect(user.text).toContain('textbox "Note" ');
    expect(user.text).toContain("value=(hidden)");
    expect(user.text).not.toContain("s3cret");
    expect(user.text).toContain("checked");
    expect(user.text).toContain("Card was clicked");
    expect(user.text).toContain("Frame was clicked");
    const old = user.ref('"Name"');
    await user.click('"Send"');
    expect(user.text).toContain("Title: Sent");
    expect(user.text).toContain("name=Ada+Lovelace&gift=on&land=fr&p=s3cret&note=two%0D%0Alines");
    expect(await user.run("click", { ref: old })).toMatchObject({
      ok: false,
      text: expect.stringContaining(`There is no element ${old} on this page`),
    });
    await user.run("back");
    expect(user.text).toContain("Title: Order");
  });

  test("a download is stored in the session's folder under a safe name", async () => {
    await user.click('"Report"');
    // On a busy machine the browser tells of the download after the page has settled: a later call reports it.
    while (!user.text.includes("Downloaded")) await user.run("snapshot");
    const path = /Downloaded \S+report\.csv \(8 bytes\) to (\S+)/.exec(user.text)?.[1] ?? "";
    expect(path.startsWith(join(user.bench.folder, ".spill"))).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("a,b\n1,2\n");
  });

  test("a new tab becomes the page, until it closes", async () => {
    await user.click('"New tab"');
    expect(user.text).toContain("A new tab opened and is the page now; browser_back closes it.");
    expect(user.text).toContain("Title: Next");
    await user.click('"Close me"');
    expect(user.text).toContain("Title: Order");
    await user.click('"New tab"');
    await user.run("back");
    expect(user.text).toContain("Title: Order");
  });

  test("a new tab without an address does not count as a page that loads", async () => {
    await user.open("/opener");
    await user.click('"Empty tab"');
    expect(user.text).toContain("Written by its opener");
    expect(user.text).not.toContain("still loads");
    await user.run("back");
    expect(user.text).toContain("Title: Opener");
  });

  test("dialogs never block: they are dismissed and reported, or answered as the call says", async () => {
    await user.open("/dialogs");
    await user.click('"Alert"');
    expect(user.text).toContain('Dialog (alert): "Hello". It was closed.');
    await user.click('"Confirm"');
    expect(user.text).toContain('Dialog (confirm): "Delete all?". It was dismissed; to accept it');
    expect(user.text).toContain("Title: false");
    await user.click('"Confirm"', "accept");
    expect(user.text).toContain("Title: true");
    await user.click('"Prompt"', "Ada");
    expect(user.text).toContain('Answered: "Ada".');
    expect(user.text).toContain("Title: Ada");
    await user.click('"Upload"');
    expect(user.text).toContain("The page asked for a file. Nothing was chosen");
    await user.click('"Guard"');
    await user.click('"Leave"');
    expect(user.text).toContain("Dialog (beforeunload)");
    expect(user.text).toContain("/dialogs");
    await user.open("/next");
    expect(user.text).toContain("Title: Next");
  });

  test("a covered element is not clicked, and the result names its cover; console and images are read", async () => {
    await user.open("/covered");
    await user.run("snapshot");
    await user.click('"Below"');
    expect(user.text).toMatch(/Another element covers @e\d+, so it was not clicked: <div id="banner"/);
    const { text } = await user.run("console", { clear: true });
    expect(text).toContain("[log] hi {a: 1}");
    expect(text).toContain("[error] bad");
    expect(text).toContain("[exception] Error: thrown");
    expect((await user.run("console")).text).toContain("The console is empty.");
    expect((await user.run("get_images")).text).toContain(`- ${base}/p.png 0×0 "A picture"`);
  });

  test("keys, scrolling, and the part in view", async () => {
    await user.open("/tall");
    expect(user.text).toMatch(/View: 0–\d+ of 30\d\d px/);
    expect(user.text).toContain('"First"');
    expect(user.text).not.toContain('"Last"');
    await user.run("press", { key: "End" });
    await user.run("scroll");
    expect(user.text).toContain('"Last"');
    expect(user.text).not.toContain('"First"');
    await user.run("snapshot", { compact: true });
    await user.run("scroll", { ref: user.ref('"First"') });
    expect(user.text).toContain('"First"');
    expect((await user.run("press", { key: "Hyper+X" })).text).toContain('There is no key "Hyper+X"');
  });

  test("a page of 10,000 elements is cut, its file has the rest, and all refs work", async () => {
    await user.open("/big");
    const { text } = await user.run("snapshot");
    expect(text.length).toBeLessThan(16_000);
    const path = /The whole snapshot \(\d+ characters\) is in (\S+);/.exec(text)?.[1] ?? "";
    user.text = readFileSync(path, "utf8");
    expect(user.text).toContain('button "Button 2499"');
    await user.click('link "Link 2400"');
    expect(user.text).toContain(`${base}/big#2400`);
  });

  test("a screenshot goes to a model that sees, or to the model of auxiliary.vision, and to people", async () => {
    const give = (web: Partial<WebAccess>) => Object.assign(user.bench.context, { web });
    give({ acceptsPictures: () => true });
    const { images, media } = await user.run("vision", { question: "What is it?" });
    expect(images).toEqual([{ mimeType: "image/jpeg", data: media?.[0]?.data }]);
    give({ askAboutPicture: async ({ mimeType }, question) => ({ ok: true, text: `${mimeType}: ${question}` }) });
    const asked = await user.run("vision", { question: "What is it?" });
    expect(asked).toMatchObject({ ok: true, text: expect.stringContaining("\nimage/jpeg: What is it?\n") });
    expect([asked.images, asked.media?.length]).toEqual([undefined, 1]);
    give({});
    expect(await user.run("vision")).toMatchObject({ ok: false, text: expect.stringContaining("cannot see pictures") });
  });

  test("other servers of this machine are refused: for redirects, parts, workers and WebSockets of a page", async () => {
    secretRequests = 0;
    const target = encodeURIComponent(`http://127.0.0.1:${secretPort}/`);
    expect(await user.open(`/elsewhere?${target}`)).toEqual({
      ok: false,
      text: `127.0.0.1:${secretPort} was refused: it is this machine. Open it with browser_navigate, which asks the user.`,
    });
    await user.open("/embeds");
    expect(user.text).toContain(`127.0.0.1:${secretPort} was refused`);
    expect(secretRequests).toBe(0);
    expect(asked).not.toContain("/spy");
    expect(asked, "a WebSocket of the page's own server is allowed").toContain("/live");
  });

  test.each([
    ["http://10.1.2.3/", "10.1.2.3 was refused: it is in a private network"],
    ["http://169.254.169.254/latest/meta-data", "clouds serve the metadata and keys of their machines there"],
    ["http://[::ffff:192.168.0.1]/", "it is in a private network"],
    ["file:///etc/passwd", "the browser opens only http and https"],
  ])("the address %s is refused", async (url, text) => {
    expect(await user.run("navigate", { url })).toMatchObject({ ok: false, text: expect.stringContaining(text) });
  });

  test("a page without an end of redirects is an error", async () => {
    expect(await user.open("/loop")).toMatchObject({ ok: false, text: expect.stringContaining("TOO_MANY_REDIRECTS") });
  });

  test("a call that waits for a page is cancelled at once, and the browser goes on", async () => {
    const opening = user.open("/never");
    await expect.poll(() => asked).toContain("/never");
    user.bench.cancel.abort();
    await expect(opening).rejects.toThrow("aborted");
  });
});

describe.runIf(hasBrowser())("a browser that fails", () => {
  const user = new User();

  afterAll(() => user.bench.context.browser?.close());

  test.each([
    ["a page that opens dialogs without end", () => user.click('"Flood"'), "opens dialogs without end"],
    ["a page that crashes", () => killed(user, "renderer"), "the page crashed"],
    ["a browser that crashes", () => killed(user), "the browser has ended"],
  ])("%s is an error, and the next navigation starts a new one", async (_, fail, text) => {
    expect((await user.open("/flood")).text).toContain("Flood");
    expect(await fail()).toMatchObject({ ok: false, text: expect.stringContaining(text) });
    expect(await user.run("snapshot")).toMatchObject({ ok: false, text: expect.stringContaining("No page is open") });
    expect(browsersOf(process.pid)).toEqual([]);
  });

  test("nothing is left of the browser of an agent that is killed, and its profile goes with the next start", async () => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, "support/browser-holder.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    const { pid = 0 } = holder;
    expect(browsersOf(pid).length).toBeGreaterThan(0);
    expect(profilesOf(pid)).toHaveLength(1);
    holder.kill("SIGKILL");
    await expect.poll(() => browsersOf(pid)).toEqual([]);
    await user.open("/next");
    expect(profilesOf(pid)).toEqual([]);
    await user.run("close");
    expect(profilesOf(process.pid)).toEqual([]);
  });

  test("a setting that names no program is an error with its value", async () => {
    const browser = new SessionBrowser({ executable: "/nowhere/chrome" }, () => "/nonexistent");
    await expect(browser.use(async ({ url }) => url, true)).rejects.toThrow(
      'browser.executable in config.yaml is "/nowhere/chrome", and there is no such program.',
    );
  });

  test("a program that is no browser is an error with its exit code", async () => {
    const browser = new SessionBrowser({ executable: "/bin/false" }, () => "/nonexistent");
    await expect(browser.use(async ({ url }) => url, true)).rejects.toThrow(
      "/bin/false does not start: it ended with exit code 1",
    );
  });
});

/** Kills the browser's processes of a kind, or all, then uses the page. */
async function killed(user: User, kind?: string): Promise<ToolResult> {
  for (const pid of browsersOf(process.pid, kind)) process.kill(pid, "SIGKILL");
  return user.run("snapshot");
}

function profilesOf(pid: number): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`hermes-browser-${pid}-`));
}
