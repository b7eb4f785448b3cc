/** The Markdown parser: no HTML, links by allow-list, images as links, fences marked for the code toolbar. */
import type { MarkdownIt, RendererRule } from "markdown-it";
import createMarkdownIt from "markdown-it";
import { addMath, type BlockRule, type InlineRule } from "./math-rules.ts";
import { isPath } from "./path-links.ts";

/** The view still sanitises the HTML of this parser. */
export function createParser(): MarkdownIt {
  const parser = createMarkdownIt({ html: false, linkify: true, breaks: false });
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  const { re } = parser.linkify;
  re.cache["src_path"] = new RegExp(`${re.get_path().source}(?<!:)`); // as in "https://host/path: the reason"
  parser.validateLink = (url) => linkKind(url) !== undefined;
  parser.renderer.rules["link_open"] = linkOpen;
  parser.renderer.rules["image"] = (tokens, index) => imageText(parser, tokens, index);
  parser.renderer.rules["fence"] = (tokens, index) => codeBlock(parser, tokens[index]);
  parser.renderer.rules["code_block"] = (tokens, index) => codeBlock(parser, tokens[index]);
  parser.renderer.rules["table_open"] = () => '<div class="table-scroll"><table>';
  parser.renderer.rules["table_close"] = () => "</table></div>";
  parser.renderer.rules["th_open"] = cellOpen;
  parser.renderer.rules["td_open"] = cellOpen;
  addMath(parser);
  parser.block.ruler.before("fence", "fold", foldLine, { alt: ["paragraph", "reference", "blockquote", "list"] });
  parser.inline.ruler.before("link", "footnote", footnoteMark);
  parser.renderer.rules["footnote_mark"] = (tokens, index) =>
    `<sup>${parser.utils.escapeHtml(tokens[index]?.content ?? "")}</sup>`;
  parser.core.ruler.at("inline", (state) => parseInline(parser, state));
  parser.core.ruler.after("inline", "task-list", markTasks);
  return parser;
}

/** Words of a Markdown text on one line, without its marks: a screen reader would spell them out. */
export function plainText(markdown: string): string {
  const texts = markdownParser
    .parse(markdown, {})
    .map(({ children, content }) => children?.map(wordsOf).join("") ?? content);
  return texts.join(" ").replaceAll(/\s+/g, " ").trim();
}

function wordsOf({ type, content }: Token): string {
  return type === "softbreak" || type === "hardbreak" ? " " : content;
}

type Tokens = Parameters<RendererRule>[0];
type Token = Tokens[number];
type CoreState = Parameters<Parameters<MarkdownIt["core"]["ruler"]["at"]>[1]>[0];

/** Characters, or runs of one character, that may begin or end a mark. The time is quadratic in their number. */
const MARKS = /([*_~`])\1*|[[\]<]/g;

/** A paragraph with more marks is plain text. */
const MAX_MARKS = 500;

function parseInline(parser: MarkdownIt, state: CoreState): void {
  for (const token of state.tokens) {
    if (token.type !== "inline") continue;
    token.children ??= [];
    if ((token.content.match(MARKS)?.length ?? 0) <= MAX_MARKS) {
      parser.inline.parse(token.content, parser, state.env, token.children);
    } else {
      const text = new state.Token("text", "", 0);
      text.content = token.content;
      token.children.push(text);
    }
  }
}

/** Lines of HTML folds that models write between blocks: the summary is bold text, and the marks of a fold are nothing. */
const FOLD = /^(?:<\/?details(?:\s[^<>]*)?>\s*)?(?:<summary>(.*?)<\/summary>\s*)?(?:<\/details>\s*)?$/i;
/** A note below the text, `[^1]: text`, which is no target of a link. */
const FOOTNOTE = /^(\[\^\d{1,3}\]):[ \t]+(.*)$/;

const foldLine: BlockRule = (state, start, _end, silent) => {
  const line = state.src.slice((state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0), state.eMarks[start]);
  const [fold, summary = ""] = (line.startsWith("<") && FOLD.exec(line)) || [];
  const [note, mark = "", text = ""] = (line.startsWith("[^") && FOOTNOTE.exec(line)) || [];
  if (fold === undefined && note === undefined) return false;
  if (silent) return true;
  const title = summary.replaceAll(/<[^<>]*>/g, "").trim();
  state.push("paragraph_open", "p", 1).map = [start, start + 1];
  const token = state.push("inline", "", 0);
  token.content = title === "" ? `${mark} ${text}`.trim() : `**${title}**`;
  token.children = [];
  state.push("paragraph_close", "p", -1);
  state.line = start + 1;
  return true;
};

const footnoteMark: InlineRule = (state, silent) => {
  // A class of a regular expression looks alike, and repeats: `[^0]+`.
  const [whole, name] = /^\[\^(\d{1,3})\](?![*+?{(])/.exec(state.src.slice(state.pos, state.pos + 8)) ?? [];
  if (whole === undefined || name === undefined) return false;
  if (!silent) state.push("footnote_mark", "sup", 0).content = name;
  state.pos += whole.length;
  return true;
};

/** Language and file that a fence names, each "" if there is none. */
export type FenceInfo = { readonly language: string; readonly path: string };

/** `ts`, `ts src/a.ts`, `ts:src/a.ts`, `ts title="src/a.ts"`, `src/a.ts`, `12:20:src/a.ts`. The language is in lower case. */
export function fenceInfo(info: string): FenceInfo {
  const words = info.split(/[\s:={}"']+/);
  const path = words.find(isPath) ?? "";
  const [, first = ""] = /^\s*([\w+#.-]+)/.exec(info) ?? [];
  const isAlone = path !== "" && words.find((word) => /[a-z]/i.test(word)) === path;
  return { language: (isAlone ? path.slice(path.lastIndexOf(".") + 1) : first).toLowerCase(), path };
}

const linkOpen: RendererRule = (...[tokens, index, options, , self]) => {
  const token = tokens[index];
  // Always the real target: a title in the text could claim another one.
  token?.attrSet("title", String(token.attrGet("href") ?? ""));
  return self.renderToken(tokens, index, options);
};

/** The page's policy allows no `style`, in which the parser has the alignment of a column. */
const cellOpen: RendererRule = (...[tokens, index]) => {
  const cell = tokens[index];
  const align = /^text-align:(left|center|right)$/.exec(String(cell?.attrGet("style")))?.[1];
  return align === undefined ? `<${cell?.tag}>` : `<${cell?.tag} align="${align}">`;
};

/** Renders an image as a link: rendering must load nothing. */
function imageText(parser: MarkdownIt, tokens: Tokens, index: number): string {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
  const src = String(token?.attrGet("src") ?? "");
  const alt = token?.content.trim() || "image";
  if (linkKind(src) === undefined) return escapeHtml(alt);
  // An image inside a link follows the outer link.
  if (isInsideLink(tokens, index)) return escapeHtml(alt);
  return `<a href="${escapeHtml(src)}" title="${escapeHtml(src)}" class="image-link">${escapeHtml(alt)}</a>`;
}

function isInsideLink(tokens: Tokens, index: number): boolean {
  let depth = 0;
  for (const token of tokens.slice(0, index)) {
    if (token.type === "link_open") depth += 1;
    if (token.type === "link_close") depth -= 1;
  }
  return depth > 0;
}

function codeBlock(parser: MarkdownIt, token: Token | undefined): string {
  const { escapeHtml } = parser.utils;
  const { language, path } = fenceInfo(token?.info ?? "");
  const title = path === "" ? "" : ` title="${escapeHtml(path)}"`;
  return `<pre dir="ltr"><code class="language-${escapeHtml(language)}"${title}>${escapeHtml(token?.content ?? "")}</code></pre>\n`;
}

/** `- [x] done` at the start of a list item. */
function markTasks(state: { tokens: Tokens }): void {
  state.tokens.forEach((token, index) => {
    const opensItem =
      state.tokens[index - 1]?.type === "paragraph_open" && state.tokens[index - 2]?.type === "list_item_open";
    const first = token.children?.[0];
    if (!opensItem || first?.type !== "text") return;
    const mark = /^\[([ xX])\]\s+/.exec(first.content);
    if (!mark) return;
    first.content = `${mark[1] === " " ? "☐" : "☑"} ${first.content.slice(mark[0].length)}`;
    state.tokens[index - 2]?.attrJoin("class", "checklist-item");
  });
}

const MAX_HREF_CHARS = 2000;
const webSchemes = new Set(["http", "https", "mailto"]);

export type LinkKind = "web" | "file";

/**
 * Kind of target that a click on `href` opens; undefined for a target that is not allowed, which stays text. A file is a relative or
 * absolute path, optionally with `:line` or `#L10`. Network paths (`//host`, `\\host`)
 * are not allowed: opening one would contact that host.
 */
export function linkKind(href: string): LinkKind | undefined {
  const decoded = decodeHonest(href);
  if (decoded === undefined || /^(?:[\\/]{2}|#|\?)/.test(decoded)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(decoded)?.[1]?.toLowerCase();
  if (scheme === undefined) return "file";
  if (webSchemes.has(scheme)) return isWebAddress(href, scheme) ? "web" : undefined;
  const isDrive = /^[a-z]:[\\/][^\\/]/i.test(decoded);
  const isLineNumber = /^[^:]+(:\d+){1,2}$/.test(decoded) && scheme.includes(".");
  return isDrive || isLineNumber ? "file" : undefined;
}

/** The decoded address; undefined for an invalid one, or one that disguises its target. */
function decodeHonest(href: string): string | undefined {
  if (href === "" || href.length > MAX_HREF_CHARS || hasControls(href)) return undefined;
  const decoded = decode(href);
  return decoded === undefined || hasControls(decoded) ? undefined : decoded;
}

function isWebAddress(href: string, scheme: string): boolean {
  if (scheme === "mailto") return href.length > "mailto:".length;
  return URL.canParse(href) && new URL(href).hostname !== "";
}

function decode(href: string): string | undefined {
  try {
    return decodeURIComponent(href);
  } catch {
    // A stray % sign makes the address invalid.
    return undefined;
  }
}

// Control characters and direction marks disguise a target.
function hasControls(text: string): boolean {
  return /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u.test(text);
}

/** The parser of the panel. It needs the rules above. */
export const markdownParser = createParser();
