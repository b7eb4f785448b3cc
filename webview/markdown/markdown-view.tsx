/** Markdown of the model: finished blocks enter the DOM once, only the growing one is rendered again. */
import createDOMPurify from "dompurify";
import { memo } from "preact/compat";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { StreamedText } from "../state/streamed-text.ts";
import { usePanel } from "../views/panel-context.ts";
import { codeToolbar, highlight } from "./code-blocks.ts";
import { type MarkdownBlock, MarkdownStream } from "./markdown-stream.ts";
import { createParser, linkKind } from "./parser.ts";

const parser = createParser();

export function MarkdownView({ text, growing }: { readonly text: StreamedText; readonly growing: boolean }) {
  const { post } = usePanel();
  const stream = useMemo(() => new MarkdownStream(parser), []);
  const blocks = stream.update(text, !growing);
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href");
    if (link === null) return;
    event.preventDefault();
    if (href && linkKind(href) !== undefined) post({ type: "open-link", href });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links inside are the interactive elements
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    <div class="markdown" dir="auto" onClick={follow}>
      {blocks.map((block) => (
        <Block key={block.id} block={block} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ block }: { readonly block: MarkdownBlock }) {
  if (block.openCode !== undefined) {
    return (
      <pre dir="ltr">
        <code>{block.openCode.text}</code>
      </pre>
    );
  }
  return <HtmlBlock html={block.html} growing={block.growing} />;
});

function HtmlBlock({ html, growing }: { readonly html: string; readonly growing: boolean }) {
  const { post } = usePanel();
  const holder = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    element.replaceChildren(sanitize(html));
    if (growing) return;
    for (const code of element.querySelectorAll<HTMLElement>("pre > code")) {
      const language = /language-(\S+)/.exec(code.className)?.[1] ?? "";
      highlight(code, language).catch(() => undefined); // a grammar that does not load: the text stays plain
      code.parentElement?.prepend(codeToolbar(language, code.textContent, post));
    }
  }, [html, growing, post]);
  return <div class="markdown-block" ref={holder} />;
}

const TAGS = [
  "p",
  "br",
  "hr",
  "strong",
  "em",
  "s",
  "del",
  "code",
  "pre",
  "blockquote",
  "ul",
  "ol",
  "li",
  "a",
  "span",
  "div",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
];
const ATTRIBUTES = ["href", "title", "class", "dir", "start", "colspan", "rowspan"];

const purifier = createDOMPurify(window);

/** Last step before the DOM: HTML that can neither load nor run anything. */
export function sanitize(html: string): DocumentFragment {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // The parser has checked the address already; this is the second check.
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|file:\/\/\/|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$)|[\w./-]+:\d)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}
