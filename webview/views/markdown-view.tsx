/** Model text: finished blocks reach the DOM once, only the growing one is drawn again. */
import { memo } from "preact/compat";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { highlight } from "../markdown/highlight.ts";
import { linkKind } from "../markdown/links.ts";
import { type MarkdownBlock, MarkdownStream } from "../markdown/markdown-stream.ts";
import { createParser } from "../markdown/parser.ts";
import { sanitize } from "../markdown/sanitize.ts";
import type { StreamedText } from "../state/streamed-text.ts";
import { codeToolbar } from "./code-toolbar.ts";
import { usePanel } from "./panel-context.ts";

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
    // Clicks are caught for the links inside, which are reachable by keyboard themselves.
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
