import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import { spillPath, writeSpillFile } from "../sessions/session-files.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolLink, type ToolResult } from "./tool.ts";
import { fetchAddress, fetchEffect } from "./web-address.ts";

/** Part of a page in the conversation. A file has the rest. Characters. */
const PAGE_CHARS = 15_000;

const input = z.object({ urls: z.array(z.string().trim().min(1).max(4_000)).min(1).max(5) });

export const tool = defineTool({
  name: "web_extract",
  toolset: "web",
  kind: "fetch",
  readOnly: true,
  largeOutput: true,
  description: "Read web pages, PDFs or JSON as Markdown.",
  input,
  title: ({ urls: [first = "", ...others] }) =>
    shortTitle(`Read ${shortAddress(first)}${others.length > 0 ? ` and ${others.length} more` : ""}`),
  effect: ({ urls }) => fetchEffect(urls),
  run,
});

type ReadPage = { readonly ok: boolean; readonly text: string; readonly link?: ToolLink };

async function run({ urls }: z.infer<typeof input>, context: ToolContext): Promise<ToolResult> {
  const pages = await Promise.all([...new Set(urls)].map((url, index) => readPage(url, index, context)));
  const links = pages.flatMap(({ link }) => (link === undefined ? [] : [link]));
  const ok = pages.some((page) => page.ok);
  const text = pages.map((page) => page.text).join("\n\n");
  return { ok, text: ok ? text : `web_extract: ${text}`, ...(links.length > 0 && { links }) };
}

async function readPage(address: string, index: number, context: ToolContext): Promise<ReadPage> {
  const { readPage: read, warmUpReader } = await import("../web/reader-thread.ts");
  warmUpReader();
  const fetched = await fetchAddress(address, context);
  if (!fetched.ok) return fetched;
  const page = await read(fetched, context.signal);
  if (!page.ok) return { ok: false, text: `${fetched.url} was not read: ${page.text}.` };
  const title = page.title || shortAddress(fetched.url);
  const { shown, note } = await fitted(page.text, index, context);
  const text = wrapData("web-page", fetched.url, `# ${title}\n\n${shown}`);
  return { ok: true, text: note === "" ? text : `${text}\n${note}`, link: { title, url: fetched.url } };
}

/** The beginning of a long page, or its summary, and a note about the file with the whole text. */
async function fitted(
  text: string,
  index: number,
  { web, signal, callId, spillFolder }: ToolContext,
): Promise<{ readonly shown: string; readonly note: string }> {
  if (text.length <= PAGE_CHARS) return { shown: text, note: "" };
  const path = spillPath({ callId, spillFolder }, "web", `-${index + 1}.md`);
  const where = await writeSpillFile(path, text).then(
    () => `The whole page (${text.length} characters) is in ${path}`,
    (error: unknown) => `The rest could not be stored (${messageOf(error)})`,
  );
  const summary = await web?.summarize?.(text, signal);
  if (summary !== undefined) return { shown: summary, note: `[This is a summary. ${where}.]` };
  const line = text.lastIndexOf("\n", PAGE_CHARS);
  const shown = text
    .slice(0, line > PAGE_CHARS / 2 ? line : PAGE_CHARS)
    .toWellFormed()
    .trimEnd();
  return { shown, note: `[${where}; continue with read_file from line ${shown.split("\n").length + 1}.]` };
}

/** `example.com/page`, for people. */
function shortAddress(address: string): string {
  return address
    .replace(/^https?:\/\/(?:www\.)?/i, "")
    .replace(/[?#].*$/, "")
    .replace(/\/$/, "");
}
