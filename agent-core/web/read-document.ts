/** A fetched document as text for a model: the kind of its content, its characters, and its reader. */
import { attempt, messageOf } from "../platform/errors.ts";
import type { HtmlPage } from "./html-page.ts";

export type WebDocument = {
  /** Address after redirects. Relative links start here. */
  readonly url: string;
  /** Value of the header `content-type`; servers lie about it. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
};

export type Page =
  | { readonly ok: true; readonly title: string; readonly text: string }
  /** One sentence about the document. */
  | { readonly ok: false; readonly text: string };

/** Longer HTML is cut. A page of 2 MB has some hundred printed pages. Characters. */
const MAX_HTML_CHARS = 2_000_000;
/** Bytes in which a page declares its characters, by the HTML standard. */
const PRESCAN_BYTES = 1_024;

/** Reads a document. Its failures are pages that are not ok. */
export async function readDocument({ url, contentType, bytes }: WebDocument): Promise<Page> {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  try {
    if (bytes.byteLength === 0) return { ok: false, text: "the document is empty" };
    if (startsWith(bytes, "%PDF-")) return await readPdf(bytes);
    const binary = binaryKind(bytes);
    if (binary !== undefined)
      return { ok: false, text: `it is ${binary}, no text (content type ${type || "unknown"})` };
    const text = decodeText(bytes, contentType);
    if (isHtml(text, type)) return await readHtml(text, url);
    if (/[/+]json$/.test(type)) return { ok: true, title: "", text: prettyJson(text) };
    return text.trim() === "" ? { ok: false, text: "the document is empty" } : { ok: true, title: "", text };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, text: "its elements are nested too deeply" };
    return { ok: false, text: messageOf(error) };
  }
}

async function readHtml(html: string, url: string): Promise<Page> {
  const { htmlPage } = await import("./html-page.ts");
  const page: HtmlPage = htmlPage(html.slice(0, MAX_HTML_CHARS), url);
  if (page.markdown === "") {
    return { ok: false, text: "the page has no readable text without its scripts; a browser may show more" };
  }
  const cut = html.length > MAX_HTML_CHARS ? `\n\n[The page is longer than ${MAX_HTML_CHARS} characters.]` : "";
  return { ok: true, title: page.title, text: page.markdown + cut };
}

const MAX_PDF_PAGES = 500;

async function readPdf(bytes: Uint8Array): Promise<Page> {
  const { getDocumentProxy, getMeta } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const { info } = await getMeta(pdf);
  const parts: string[] = [];
  for (let number = 1; number <= Math.min(pdf.numPages, MAX_PDF_PAGES); number += 1) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    parts.push(`[Page ${number} of ${pdf.numPages}]\n${text.trim()}`);
  }
  const isEmpty = parts.every((part) => /\]\n$/.test(part));
  if (isEmpty) return { ok: false, text: "the PDF has no text, only pictures" };
  const title: unknown = info["Title"];
  return { ok: true, title: typeof title === "string" ? title : "", text: parts.join("\n\n") };
}

/** Formats whose first bytes tell what they are. Any other text with a zero byte is binary too. */
const SIGNATURES: readonly (readonly [bytes: string, kind: string])[] = [
  ["\x89PNG", "a picture: vision_analyze reads it"],
  ["\xff\xd8\xff", "a picture: vision_analyze reads it"],
  ["GIF8", "a picture: vision_analyze reads it"],
  ["PK\x03\x04", "a zip archive"],
  ["\x1f\x8b", "a gzip archive"],
];

function binaryKind(bytes: Uint8Array): string | undefined {
  const known = SIGNATURES.find(([signature]) => startsWith(bytes, signature))?.[1];
  if (known !== undefined) return known;
  const isWide = startsWith(bytes, "\xff\xfe") || startsWith(bytes, "\xfe\xff");
  return !isWide && bytes.subarray(0, 8_192).includes(0) ? "a binary file" : undefined;
}

function startsWith(bytes: Uint8Array, signature: string): boolean {
  return Buffer.from(bytes.subarray(0, signature.length)).toString("latin1") === signature;
}

function isHtml(text: string, type: string): boolean {
  const start = text.slice(0, PRESCAN_BYTES).trimStart();
  if (/^(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return true;
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(type) && /^\s*</.test(start);
}

/**
 * Characters by the byte order mark, the header, or the page's own declaration. Else UTF-8, and Windows-1252 for bytes
 * that are no UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString("latin1");
  const mark = [
    ["\xef\xbb\xbf", "utf-8"] as const,
    ["\xff\xfe", "utf-16le"] as const,
    ["\xfe\xff", "utf-16be"] as const,
  ];
  const labels = [
    mark.find(([signature]) => start.startsWith(signature))?.[1],
    /charset\s*=\s*["']?([\w-]+)/i.exec(contentType)?.[1],
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1],
  ];
  for (const label of labels) {
    // A page may name an encoding that does not exist.
    const decoder = label === undefined ? undefined : attempt(() => new TextDecoder(label));
    if (decoder !== undefined) return decoder.decode(bytes);
  }
  return (
    attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)) ??
    new TextDecoder("windows-1252").decode(bytes)
  );
}

function prettyJson(text: string): string {
  return attempt(() => JSON.stringify(JSON.parse(text), null, 2)) ?? text;
}
