/** Converts Markdown to the markup of a platform. */
import createMarkdownIt from "markdown-it";
import type { Limits } from "../adapters/adapter.ts";

type Markup = Limits["markup"];
type Pair = readonly [string, string];

type Dialect = {
  readonly escape: (text: string) => string;
  readonly strong: Pair;
  readonly em: Pair;
  readonly s: Pair;
  readonly code: Pair;
  readonly pre: (text: string, language: string) => string;
  readonly link: (text: string, url: string) => string;
  readonly quote: (text: string) => string;
};

const asIs = (text: string): string => text;
const lines = (mark: string) => (text: string) => text.replaceAll(/^/gm, mark);
const fenced = (text: string, language: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
const named = (text: string, url: string): string => (text === url ? url : `${text} (${url})`);

function html(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The mark would be read as Markdown. */
function markdownEscaped(text: string): string {
  return text.replaceAll(/[*_~`|\\]/g, "\\$&");
}

const dialects: Readonly<Record<Markup, Dialect>> = {
  html: {
    escape: html,
    strong: ["<b>", "</b>"],
    em: ["<i>", "</i>"],
    s: ["<s>", "</s>"],
    code: ["<code>", "</code>"],
    pre: (text, language) => {
      const name = language.replaceAll(/[^\w+#-]/g, "");
      return name === ""
        ? `<pre>${html(text)}</pre>`
        : `<pre><code class="language-${name}">${html(text)}</code></pre>`;
    },
    link: (text, url) => `<a href="${html(url).replaceAll('"', "&quot;")}">${text}</a>`,
    quote: (text) => `<blockquote>${text}</blockquote>`,
  },
  markdown: {
    escape: markdownEscaped,
    strong: ["**", "**"],
    em: ["*", "*"],
    s: ["~~", "~~"],
    code: ["`", "`"],
    pre: fenced,
    // The address in angle brackets has no preview.
    link: (text, url) => (text === url ? `<${url}>` : `[${text}](<${url}>)`),
    quote: lines("> "),
  },
  mrkdwn: {
    escape: html,
    strong: ["*", "*"],
    em: ["_", "_"],
    s: ["~", "~"],
    code: ["`", "`"],
    pre: (text) => fenced(html(text), ""),
    link: (text, url) => `<${html(url).replaceAll("|", "%7C")}|${text}>`,
    quote: lines("> "),
  },
  whatsapp: {
    escape: asIs,
    strong: ["*", "*"],
    em: ["_", "_"],
    s: ["~", "~"],
    code: ["`", "`"],
    pre: (text) => fenced(text, ""),
    link: named,
    quote: lines("> "),
  },
  plain: {
    escape: asIs,
    strong: ["", ""],
    em: ["", ""],
    s: ["", ""],
    code: ["", ""],
    pre: asIs,
    link: named,
    quote: lines("> "),
  },
};

const parser = createMarkdownIt({ html: false, linkify: false });
type Token = ReturnType<typeof parser.parse>[number];

/** The Markdown in the platform's markup. Never throws. */
export function toMarkup(markdown: string, markup: Markup): string {
  return blocks(parser.parse(markdown, {}), dialects[markup]).trim();
}

/** Characters of a text as the platform counts them. */
export function lengthOf(text: string, { measure, markup }: Pick<Limits, "measure" | "markup">): number {
  // Of HTML, the platform counts what a reader sees.
  const shown = markup === "html" ? text.replaceAll(/<[^>]*>/g, "").replaceAll(/&(?:lt|gt|amp|quot);/g, "&") : text;
  if (measure === "bytes") return Buffer.byteLength(shown);
  return measure === "points" ? [...shown].length : shown.length;
}

/** Text of tokens that belong together; `from` to before the closing token of the same level. */
function inner(tokens: readonly Token[], from: number): { readonly part: readonly Token[]; readonly next: number } {
  const level = tokens[from]?.level ?? 0;
  let next = from + 1;
  while (next < tokens.length && !(tokens[next]?.level === level && tokens[next]?.nesting === -1)) next += 1;
  return { part: tokens.slice(from + 1, next), next };
}

function blocks(tokens: readonly Token[], dialect: Dialect): string {
  const parts: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.nesting !== 1) {
      const text = leaf(token, dialect);
      if (text !== "") parts.push(text);
      continue;
    }
    const { part, next } = inner(tokens, at);
    parts.push(container(token, part, dialect));
    at = next;
  }
  return parts.join("\n\n");
}

function leaf(token: Token, dialect: Dialect): string {
  switch (token.type) {
    case "inline":
      return inline(token.children ?? [], dialect);
    case "fence":
    case "code_block":
      return dialect.pre(token.content.replace(/\n$/, ""), token.info.trim().split(/\s/)[0] ?? "");
    case "hr":
      return "———";
    default:
      return "";
  }
}

function container(token: Token, part: readonly Token[], dialect: Dialect): string {
  switch (token.type) {
    case "heading_open":
      return dialect.strong[0] + blocks(part, { ...dialect, strong: ["", ""] }) + dialect.strong[1];
    case "bullet_list_open":
      return list(part, dialect, () => "• ");
    case "ordered_list_open":
      return list(part, dialect, (index) => `${Number(token.attrGet("start") ?? 1) + index}. `);
    case "blockquote_open":
      return dialect.quote(blocks(part, { ...dialect, quote: asIs }));
    case "table_open":
      return dialect.pre(table(part), "");
    default:
      return blocks(part, dialect);
  }
}

function list(tokens: readonly Token[], dialect: Dialect, mark: (index: number) => string): string {
  const items: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const { part, next } = inner(tokens, at);
    const text = blocks(part, dialect).replaceAll("\n\n", "\n");
    items.push(mark(items.length) + text.replaceAll("\n", "\n   "));
    at = next;
  }
  return items.join("\n");
}

/** Columns of equal width: no platform shows tables. */
function table(tokens: readonly Token[]): string {
  const rows: string[][] = [];
  for (const { type, children } of tokens) {
    if (type === "tr_open") rows.push([]);
    if (type === "inline") rows.at(-1)?.push(inline(children ?? [], dialects.plain));
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? "")].length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join(" │ ")
      .trimEnd();
  const [head = [], ...others] = rows;
  return [line(head), widths.map((width) => "─".repeat(width)).join("─┼─"), ...others.map(line)].join("\n");
}

function inline(tokens: readonly Token[], dialect: Dialect): string {
  let text = "";
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.nesting === 1) {
      const { part, next } = inner(tokens, at);
      text += span(token, inline(part, dialect), dialect);
      at = next;
    } else text += word(token, dialect);
  }
  return text;
}

function span(token: Token, content: string, dialect: Dialect): string {
  if (token.type === "link_open") return dialect.link(content, String(token.attrGet("href") ?? ""));
  const mark = (["strong", "em", "s"] as const).find((name) => token.type === `${name}_open`);
  return mark === undefined ? content : dialect[mark][0] + content + dialect[mark][1];
}

function word(token: Token, dialect: Dialect): string {
  switch (token.type) {
    case "code_inline":
      return (
        dialect.code[0] +
        (dialect.escape === markdownEscaped ? token.content : dialect.escape(token.content)) +
        dialect.code[1]
      );
    case "softbreak":
    case "hardbreak":
      return "\n";
    case "image":
      return dialect.link(dialect.escape(token.content || "image"), String(token.attrGet("src") ?? ""));
    default:
      return dialect.escape(token.content);
  }
}
