import { expect, test } from "vitest";
import { decodeText, type Page, readDocument } from "../../../agent-core/web/read-document.ts";
import { readPage } from "../../../agent-core/web/reader-thread.ts";

const read = (content: string | Buffer, contentType = "text/html"): Promise<Page> =>
  readDocument({ url: "https://example.com/docs/page", contentType, bytes: Buffer.from(content) });

const textOf = async (content: string | Buffer, contentType?: string): Promise<string> =>
  (await read(content, contentType)).text;

const ARTICLE = `<p>${"A sentence with some words, and a comma. ".repeat(12)}</p>`;

test("HTML becomes Markdown with title, headings, links, lists, code and tables", async () => {
  const page = await read(`<!doctype html><html><head><title>The
    page</title><script>var hidden = 1</script></head><body><nav><a href="/n">Navigation</a></nav>
    <main><h2>Part</h2>${ARTICLE}<p>See <a href="../x?y=1">the <b>other</b> page</a>, or <a href="javascript:x()">run</a>.</p>
    <ul><li>one</li><li>two</li></ul><pre><code class="language-ts">const a = 1;\nconst b = 2;</code></pre>
    <table><tr><th>name</th><th>value</th></tr><tr><td>a|b</td><td><p>1</p><p>2</p></td></tr></table>
    <img src="/i.png" alt="a picture"><img src="data:image/png;base64,AAAA" alt="inline"></main></body></html>`);
  expect(page).toMatchObject({ ok: true, title: "The page" });
  for (const part of [
    "## Part",
    "See [the **other** page](https://example.com/x?y=1), or run.",
    /- +one\n- +two/,
    "```ts\nconst a = 1;\nconst b = 2;\n```",
    "| name | value |\n| --- | --- |\n| a\\|b | 1 2 |",
    "![a picture](https://example.com/i.png)",
  ]) {
    if (typeof part === "string") expect(page.text).toContain(part);
    else expect(page.text).toMatch(part);
  }
  for (const absent of ["hidden", "Navigation", "inline"]) expect(page.text).not.toContain(absent);
});

test("a large page is its marked main part, without what is around it", async () => {
  const many = Array.from({ length: 2_000 }, (_, index) => `<p>Line <b>${index}</b></p>`).join("");
  const around = "<header>Top</header><nav>Menu</nav><footer>Bottom</footer>";
  for (const html of [`${around}<main>${many}</main>`, `${around}<div>${many}</div>`]) {
    const text = await textOf(`<html><body>${html}</body></html>`);
    expect(text).toMatch(/^Line \*\*0\*\*\n\nLine/);
    expect(text).toMatch(/1999\*\*$/);
  }
});

test("a fragment, a page without a body and a short page are read whole", async () => {
  expect(await textOf("<p>one<p>two")).toBe("one\n\ntwo");
  expect(await textOf("<html><head></head><p>no body")).toBe("no body");
  expect(await textOf("<html><body><div>short")).toBe("short");
});

test("JSON is indented, and text stays as it is", async () => {
  expect(await textOf('{"a":[1]}', "application/json; charset=utf-8")).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(await textOf("{broken", "application/json")).toBe("{broken");
  expect(await textOf("plain <b>text</b>", "text/plain")).toBe("plain <b>text</b>");
});

test.each([
  ["the header", Buffer.from("caf\xe9", "latin1"), "text/plain; charset=iso-8859-1", "café"],
  ["the page", Buffer.from('<html><head><meta charset="windows-1251"></head>\xcf\xf0', "latin1"), "text/html", /Пр$/],
  ["a byte order mark", Buffer.from("\ufeffcafé", "utf16le"), "text/plain; charset=utf-8", "café"],
  ["UTF-8 without a declaration", Buffer.from("café"), "text/plain", "café"],
  ["bytes that are no UTF-8", Buffer.from("caf\xe9", "latin1"), "text/plain", "café"],
  ["an unknown name", Buffer.from("café"), "text/plain; charset=no-such-charset", "café"],
])("characters are decoded by %s", (_, bytes, contentType, expected) => {
  const text = decodeText(bytes, contentType);
  if (typeof expected === "string") expect(text).toBe(expected);
  else expect(text).toMatch(expected);
});

/** A PDF of one page with this text. */
function pdf(text: string): Buffer {
  const content = `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Title (A paper) >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const start = body.length;
  return Buffer.from(
    `${body}xref\n0 7\n0000000000 65535 f \n${rows}trailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n${start}\n%%EOF`,
  );
}

test("a PDF is read page by page, whatever the server calls it, in the thread, too", async () => {
  const read = { ok: true, title: "A paper", text: "[Page 1 of 1]\nHello from a PDF" };
  const document = { url: "https://example.com/a", contentType: "text/html", bytes: pdf("Hello from a PDF") };
  expect(await readDocument(document)).toEqual(read);
  expect(await readPage(document, new AbortController().signal)).toEqual(read);
});

test.each([
  ["an empty document", "", "text/html", "the document is empty"],
  ["a picture that is called HTML", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "text/html", "vision_analyze"],
  ["an archive", Buffer.from("PK\x03\x04rest", "latin1"), "text/plain", "a zip archive"],
  ["binary content", Buffer.from([1, 2, 0, 3]), "text/plain", "a binary file"],
  [
    "a page of scripts",
    "<html><body><script>run()</script><div id=app></div></body></html>",
    "text/html",
    "no readable text",
  ],
  ["a broken PDF", "%PDF-1.4 and nothing else", "application/pdf", "PDF"],
])("%s fails with one line", async (_, content, contentType, expected) => {
  const page = await read(content, contentType);
  expect(page.ok).toBe(false);
  expect(page.text).toContain(expected);
  expect(page.text).not.toContain("\n");
});

test("a hostile page ends with one line, and the thread reads the next page", async () => {
  const { signal } = new AbortController();
  const document = (html: string) => ({
    url: "https://example.com/",
    contentType: "text/html",
    bytes: Buffer.from(html),
  });
  const deep = await readPage(document(`<html><body>${"<div>".repeat(100_000)}x`), signal, 50);
  expect(deep).toEqual({ ok: false, text: "it could not be read within 0.05 s" });
  const [attribute, next] = await Promise.all([
    readPage(document(`<html><body><p title="${"a".repeat(50_000_000)}">x`), signal),
    readPage(document("<html><body><p>next"), signal),
  ]);
  expect(attribute).toMatchObject({ ok: false, text: expect.stringContaining("no readable text") });
  expect(next).toMatchObject({ ok: true, text: "next" });
  const cancel = new AbortController();
  const cancelled = readPage(document("<html><body><p>never"), cancel.signal);
  cancel.abort(new Error("stopped"));
  await expect(cancelled).rejects.toThrow("stopped");
});

test("a cancelled page does not hold up the next one", async () => {
  const document = (html: string) => ({
    url: "https://a.example/",
    contentType: "text/html",
    bytes: Buffer.from(html),
  });
  await readPage(document("<html><body><p>first"), new AbortController().signal);
  const cancel = new AbortController();
  const cancelled = readPage(document(`<html><body>${"<div>".repeat(100_000)}x`), cancel.signal);
  cancel.abort(new Error("stopped"));
  await expect(cancelled).rejects.toThrow("stopped");
  const next = await readPage(document("<html><body><p>next"), new AbortController().signal, 30_000);
  expect(next).toMatchObject({ ok: true, text: "next" });
});
