/** Own time of `web_extract` for a page of 1 MB: characters, main part and Markdown, without the network. Floor: a parse. */
import { parseHTML } from "linkedom";
import { readPage } from "../../agent-core/web/reader-thread.ts";
import { byTurns, median, type Row } from "./measuring.ts";

const ROUNDS = 15;
const TARGET_MS = 300;
const PAGE_BYTES = 1_000_000;

/** Page of an encyclopaedia: 18,000 elements, with paragraphs of links, lists, code and tables. */
function page(main: string): Buffer {
  const sentence =
    'Some <b>bold</b> words and a <a href="/wiki/Other" title="Other">link to a page</a>, and more text. ';
  const section = [
    '<h2 id="h"><span class="headline">Part</span></h2>',
    `<p class="paragraph">${sentence.repeat(5)}</p>`.repeat(4),
    "<ul><li>one item</li><li>two items</li></ul><pre><code>const a = 1;\n</code></pre>",
    "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
  ].join("");
  const content = section.repeat(Math.floor(PAGE_BYTES / section.length));
  const around = `<nav>${'<a href="/x">menu</a>'.repeat(50)}</nav>`;
  return Buffer.from(`<html><head><title>T</title></head><body>${around}<${main}>${content}</${main}></body></html>`);
}

export async function measureWeb(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const main of ["article", "div"]) {
    const bytes = page(main);
    const read = async (): Promise<Time> => {
      const begin = now();
      const { ok, text } = await readPage(
        { url: "https://example.com/", contentType: "text/html", bytes },
        new AbortController().signal,
      );
      if (!ok || text.length < PAGE_BYTES / 2) throw new Error(`the page was not read: ${text.slice(0, 200)}`);
      return since(begin);
    };
    const first = await read();
    const what = `web_extract of a page of 1 MB in <${main}>`;
    rows.push({ what: `${what}, first one of its kind`, ours: first.ms, target: 2 * TARGET_MS, unit: "ms" });
    const { ours, floor } = await byTurns(ROUNDS, read, async () => parseTime(bytes));
    const [ms, processor] = (["ms", "processorMs"] as const).map((name) => ({
      ours: median(ours.map((time) => time[name])),
      floor: median(floor.map((time) => time[name])),
    }));
    if (ms && processor) rows.push({ what, ...ms, processor, target: TARGET_MS, unit: "ms" });
  }
  return rows;
}

function parseTime(bytes: Buffer): Time {
  const begin = now();
  parseHTML(bytes.toString());
  return since(begin);
}

/** `processorMs`: of all threads of this process. */
type Time = { readonly ms: number; readonly processorMs: number };

function now(): Time {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), processorMs: (user + system) / 1_000 };
}

function since(begin: Time): Time {
  const end = now();
  return { ms: end.ms - begin.ms, processorMs: end.processorMs - begin.processorMs };
}
