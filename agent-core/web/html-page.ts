/// <reference path="./turndown-plugin-gfm.d.ts" />
/** Main part of an HTML page as Markdown, with absolute links, tables and code. */
import { highlightedCodeBlock, strikethrough, taskListItems } from "@joplin/turndown-plugin-gfm";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

export type HtmlPage = { readonly title: string; readonly markdown: string };

/** Parts of the DOM in use; the core has no types of browsers. */
type PageElement = {
  readonly localName: string;
  readonly textContent: string;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
};
type PageDocument = PageElement & { readonly body: PageElement | null; readonly documentElement: PageElement };

/** Elements without text for a reader. */
const SILENT = new Set(
  "script style noscript template svg iframe canvas object embed dialog button input select".split(" "),
);
/** Elements around the main part, and the roles that other elements have instead. */
const AROUND = new Set("nav header footer aside navigation banner contentinfo".split(" "));
/** Readability needs a second for pages of 20,000 elements. Large pages mostly name their main part themselves. */
const MAX_SCORED_ELEMENTS = 3_000;
/** Part of a page's text, or of its elements, that the main part must have. */
const MAIN_SHARE = 0.3;
/** HTML has fewer names. A hostile page has more. */
const MAX_NAMES = 500;

/** Throws a RangeError for elements that are nested too deeply. */
export function htmlPage(html: string, url: string): HtmlPage {
  const whole = /<html[\s>]/i.test(html) ? html : `<html><head></head><body>${html}</body></html>`;
  // linkedom's own type needs those of browsers.
  const { document } = parseHTML(whole) as unknown as { readonly document: PageDocument };
  const { documentElement } = document;
  const { count, main, around, title } = prepare(document, url);
  const body = document.body?.textContent.trim() ? document.body : documentElement;
  if (count <= MAX_SCORED_ELEMENTS) {
    const all = toMarkdown(copyOf(body)); // before Readability changes the document
    const article = readable(document);
    return { title, markdown: article !== undefined && article.length > all.length * MAIN_SHARE ? article : all };
  }
  if (main !== undefined && main.querySelectorAll("*").length > count * MAIN_SHARE) {
    return { title, markdown: toMarkdown(main) };
  }
  for (const element of around) element.remove();
  return { title, markdown: toMarkdown(body) };
}

type Prepared = {
  /** Elements with text. */
  readonly count: number;
  /** Only element that the page marks as its main part. */
  readonly main: PageElement | undefined;
  readonly around: readonly PageElement[];
  /** Text of the first title or, without one, of the first heading. */
  readonly title: string;
};

/** Removes what no reader sees, and makes addresses absolute, in one pass: a selector costs a pass of its own. */
function prepare(document: PageDocument, url: string): Prepared {
  const found: Record<"main" | "article" | "around", PageElement[]> = { main: [], article: [], around: [] };
  const elements = Array.from(document.querySelectorAll("*"));
  for (const element of elements) {
    const name = element.localName;
    const isBox = name === "div" || name === "section";
    const part = partOf((isBox && element.getAttribute("role")) || name);
    if (SILENT.has(name)) element.remove();
    else if (name === "a") makeAbsolute(element, "href", url);
    else if (name === "img" && !makeAbsolute(element, "src", url)) element.remove();
    else if (part !== undefined) found[part].push(element);
  }
  const { main, article, around } = found;
  const [only, second] = main.length > 0 ? main : article;
  return {
    count: elements.length,
    main: second === undefined ? only : undefined,
    around,
    title: titleOf(elements),
  };
}

/** `name`: of an element, or its role. */
function partOf(name: string): "main" | "article" | "around" | undefined {
  if (name === "main" || name === "article") return name;
  return AROUND.has(name) ? "around" : undefined;
}

/** A link without a target elsewhere, such as a jump within the page, keeps its text alone. */
function makeAbsolute(element: PageElement, name: "href" | "src", base: string): boolean {
  const address = element.getAttribute(name) ?? "";
  const absolute = !address.startsWith("#") && URL.canParse(address, base) ? new URL(address, base) : undefined;
  const isUseful = absolute !== undefined && /^(?:https?|mailto):$/.test(absolute.protocol);
  if (isUseful) element.setAttribute(name, absolute.href);
  else element.removeAttribute(name);
  return isUseful;
}

function titleOf(elements: readonly PageElement[]): string {
  return textOfFirst(elements, "title") || textOfFirst(elements, "h1");
}

function textOfFirst(elements: readonly PageElement[], name: string): string {
  const text = elements.find(({ localName }) => localName === name)?.textContent ?? "";
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Changes the document. Undefined for a page without an article. */
function readable(document: PageDocument): string | undefined {
  const options = { serializer: (node: unknown) => node as PageElement, keepClasses: true }; // it gets an element
  const article = new Readability<PageElement>(document, options).parse();
  return article?.content ? toMarkdown(article.content) : undefined;
}

let converter: TurndownService | undefined;

function copyOf(element: PageElement): PageElement {
  return (element as unknown as { cloneNode(isDeep: true): PageElement }).cloneNode(true);
}

/** Changes the element. turndown converts a copy, which for a large page takes a tenth of its time. */
function toMarkdown(element: PageElement): string {
  converter ??= newConverter();
  cacheNames(element);
  const node = { nodeType: ELEMENT, cloneNode: () => element } as unknown as TurndownService.Node;
  return converter
    .turndown(node)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const ELEMENT = 1;
/** Names of elements in capital letters, by name. */
const capitals = new Map<string, string>();
let hasCachedNames = false;

/** turndown reads the name of an element dozens of times, and linkedom converts it each time. */
function cacheNames(element: PageElement): void {
  if (hasCachedNames) return;
  hasCachedNames = true;
  let prototype: object = element;
  while (!Object.hasOwn(prototype, "nodeName")) prototype = Object.getPrototypeOf(prototype) as object;
  Object.defineProperty(prototype, "nodeName", {
    configurable: true,
    get(this: PageElement): string {
      const name = this.localName;
      let capital = capitals.get(name);
      if (capital === undefined) {
        capital = name.toUpperCase();
        if (capitals.size < MAX_NAMES) capitals.set(name, capital);
      }
      return capital;
    },
  });
}

/** Characters that turndown escapes somewhere in a text, or at its start. */
const ESCAPED = /[\\*`[\]_]|^[-+=#~>\d]/;

function newConverter(): TurndownService {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  const escapeText = service.escape.bind(service);
  service.escape = (text) => (ESCAPED.test(text) ? escapeText(text) : text);
  service.use([highlightedCodeBlock, strikethrough, taskListItems]);
  // The plugin's own tables need `rows`, which linkedom lacks, and keep styled tables as HTML.
  service.addRule("cell", { filter: ["td", "th"], replacement: (content) => ` ${cellText(content)} |` });
  service.addRule("row", {
    filter: "tr",
    replacement: (content, node) => rowText(content, node as unknown as TableRow),
  });
  service.addRule("section", { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content });
  service.addRule("table", { filter: "table", replacement: (content) => `\n\n${content}\n\n` });
  return service;
}

type TableRow = {
  readonly children: { readonly length: number };
  readonly previousElementSibling: unknown;
  readonly parentElement: { readonly localName: string; readonly previousElementSibling: PageElement | null } | null;
};

function cellText(content: string): string {
  return content
    .trim()
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|");
}

/** A row of one cell is layout, so its text stands alone. The first row is the heading. */
function rowText(content: string, { children, previousElementSibling, parentElement }: TableRow): string {
  if (children.length < 2) return `${content.replace(/ \|$/, "").replaceAll("\\|", "|").trim()}\n\n`;
  const isFirstPart =
    parentElement?.localName === "table" || parentElement?.previousElementSibling?.localName !== "thead";
  const isHeading = isFirstPart && previousElementSibling === null;
  return `|${content}\n${isHeading ? `|${" --- |".repeat(children.length)}\n` : ""}`;
}
