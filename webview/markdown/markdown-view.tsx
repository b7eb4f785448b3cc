/** Markdown of the model: finished blocks enter the DOM once, only the growing one is rendered again. */
import createDOMPurify from "dompurify";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
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
  useNextTask(stream.isBehind);
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
      {withParts(blocks).map(([block, ...parts]) => [
        <Block key={block.id} block={block} parts={parts} />,
        parts.length > 0 && <FoldedParts key={`parts of ${block.id}`} parts={parts} />,
      ])}
    </div>
  );
}

/** Each block, followed by its further parts. */
function withParts(blocks: readonly MarkdownBlock[]): readonly (readonly [MarkdownBlock, ...MarkdownBlock[]])[] {
  const groups: [MarkdownBlock, ...MarkdownBlock[]][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    if (group === undefined || block.part === 0) groups.push([block]);
    else group.push(block);
  }
  return groups;
}

/** Renders the component again in a task of its own while `isBehind`, so that the panel answers in between. */
function useNextTask(isBehind: boolean): void {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(renderAgain, 0, undefined);
    return () => clearTimeout(timer);
  });
}

/** Parts of a long block after its first one. They appear when the user asks, one a task. */
function FoldedParts({ parts }: { readonly parts: readonly MarkdownBlock[] }) {
  const [isOpen, open] = useState(false);
  const shown = useRef(0);
  if (isOpen) shown.current = Math.min(shown.current + 1, parts.length);
  useNextTask(isOpen && shown.current < parts.length);
  return (
    <>
      {parts.slice(0, shown.current).map((part) => (
        <Block key={part.id} block={part} parts={[]} />
      ))}
      {!isOpen && (
        <button type="button" class="text-button" onClick={() => open(true)}>
          Show {sizeOf(parts)}
        </button>
      )}
    </>
  );
}

function sizeOf(parts: readonly MarkdownBlock[]): string {
  const count = (measure: (source: string) => number) => parts.reduce((sum, { source }) => sum + measure(source), 0);
  const lines = count((source) => source.split("\n").length - 1);
  if (lines > 1) return `${lines.toLocaleString("en")} more lines`;
  return `${count((source) => source.length).toLocaleString("en")} more characters`;
}

type BlockProps = { readonly block: MarkdownBlock; readonly parts: readonly MarkdownBlock[] };

const Block = memo(function Block({ block, parts }: BlockProps) {
  return block.code === undefined ? (
    <HtmlBlock html={block.html} growing={block.growing} />
  ) : (
    <CodePart code={block.code} parts={block.part === 0 && !block.growing ? parts : undefined} />
  );
}, isSameBlock);

function isSameBlock(before: BlockProps, after: BlockProps): boolean {
  return (
    before.block === after.block && (before.block.code === undefined || before.parts.length === after.parts.length)
  );
}

type CodePartProps = {
  readonly code: NonNullable<MarkdownBlock["code"]>;
  /** Further parts of the code; undefined for code without a toolbar. */
  readonly parts: readonly MarkdownBlock[] | undefined;
};

/** Code that stays plain: an open fence, or a part of a long one. */
function CodePart({ code, parts }: CodePartProps) {
  const { post } = usePanel();
  const holder = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (parts === undefined) return undefined;
    const whole = () => [code, ...parts.map((part) => part.code)].map((part) => part?.text ?? "").join("");
    const bar = codeToolbar(code.language, whole, post);
    holder.current?.prepend(bar);
    return () => bar.remove();
  }, [code, parts, post]);
  return (
    <div class="markdown-block">
      <pre dir="ltr" ref={holder}>
        <code>{code.text}</code>
      </pre>
    </div>
  );
}

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
      const text = code.textContent;
      highlight(code, language);
      code.parentElement?.prepend(codeToolbar(language, () => text, post));
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
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$)|[\w./-]+:\d)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}
