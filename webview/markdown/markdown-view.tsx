/** Markdown of the model: finished blocks enter the DOM once, only the growing one is rendered again. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import createDOMPurify from "dompurify";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { StreamedText } from "../state/streamed-text.ts";
import { formatNumber, t } from "../texts.ts";
import { Button } from "../views/icon.tsx";
import { usePanel } from "../views/panel-context.ts";
import { addToolbar, highlight } from "./code-blocks.ts";
import { type MarkdownBlock, MarkdownStream } from "./markdown-stream.ts";
import { showMath } from "./math.ts";
import { linkKind, markdownParser } from "./parser.ts";

export function MarkdownView({ text, growing }: { readonly text: StreamedText; readonly growing: boolean }) {
  const panel = usePanel();
  const { post } = panel;
  const stream = useMemo(() => new MarkdownStream(markdownParser), []);
  const blocks = stream.update(text, !growing);
  useNextTask(stream.isBehind);
  const leaves = text.length > LONG_CHARS;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href");
    if (link === null) return;
    event.preventDefault();
    if (href === COMMAND_LINK) panel.compose(link.textContent);
    else if (href && linkKind(href) !== undefined) post({ type: "open-link", href });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links inside are the interactive elements
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    <div class="markdown" dir="auto" onClick={follow}>
      {withParts(blocks).map(([block, ...parts]) => [
        <Block key={block.id} block={block} parts={parts} leaves={leaves && !opened.has(block.id)} />,
        parts.length > 0 && (
          <FoldedParts
            key={`parts of ${block.id}`}
            parts={parts}
            isOpen={opened.has(block.id)}
            open={() => setOpened(new Set([...opened, block.id]))}
          />
        ),
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

type FoldedPartsProps = {
  readonly parts: readonly MarkdownBlock[];
  readonly isOpen: boolean;
  readonly open: () => void;
};

/** Parts of a long block after its first one. They appear when the user asks, one a task, and stay in the DOM. */
function FoldedParts({ parts, isOpen, open }: FoldedPartsProps) {
  const shown = useRef(0);
  if (isOpen) shown.current = Math.min(shown.current + 1, parts.length);
  useNextTask(isOpen && shown.current < parts.length);
  return (
    <>
      {parts.slice(0, shown.current).map((part) => (
        <Block key={part.id} block={part} parts={[]} leaves={false} />
      ))}
      {!isOpen && (
        <Button data-hides onClick={open}>
          {showText(parts)}
        </Button>
      )}
    </>
  );
}

function showText(parts: readonly MarkdownBlock[]): string {
  const count = (measure: (part: MarkdownBlock) => number) => parts.reduce((sum, part) => sum + measure(part), 0);
  const lines = count(linesOf);
  if (lines > 1) return t("Show {0} More Lines", formatNumber(lines));
  return t("Show {0} More Characters", formatNumber(count(({ source }) => source.length)));
}

/** Lines of parts: each update of a long block asks for those of all parts. */
const knownLines = new WeakMap<MarkdownBlock, number>();

function linesOf(part: MarkdownBlock): number {
  const lines = knownLines.get(part) ?? part.source.split("\n").length - 1;
  knownLines.set(part, lines);
  return lines;
}

type BlockProps = {
  readonly block: MarkdownBlock;
  readonly parts: readonly MarkdownBlock[];
  /** The block leaves the DOM while it is far from the view. */
  readonly leaves: boolean;
};

const Block = memo(function Block({ block, parts, leaves }: BlockProps) {
  return block.code === undefined ? (
    <HtmlBlock html={block.html} growing={block.growing} leaves={leaves} />
  ) : (
    <CodePart code={block.code} parts={block.part === 0 && !block.growing ? parts : undefined} />
  );
}, isSameBlock);

function isSameBlock(before: BlockProps, after: BlockProps): boolean {
  return (
    before.block === after.block &&
    before.leaves === after.leaves &&
    (before.block.code === undefined || before.parts.length === after.parts.length)
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
    const block = holder.current;
    if (block === null || parts === undefined) return undefined;
    const whole = () => [code, ...parts.map((part) => part.code)].map((part) => part?.text ?? "").join("");
    const bar = addToolbar(block, { ...code, text: whole }, post);
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

type HtmlBlockProps = { readonly html: string; readonly growing: boolean; readonly leaves: boolean };

function HtmlBlock({ html, growing, leaves }: HtmlBlockProps) {
  const { post, paths, store, isReadOnly } = usePanel();
  const holder = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const fill = (): void => {
      element.replaceChildren(sanitize(html));
      showMath(element);
      if (growing) return;
      for (const code of element.querySelectorAll<HTMLElement>("pre > code")) {
        const [language, path, text] = [/language-(\S+)/.exec(code.className)?.[1] ?? "", code.title, code.textContent];
        highlight(code, language);
        if (code.parentElement) addToolbar(code.parentElement, { language, path, text: () => text }, post);
      }
      if (!isReadOnly) linkCommands(element, store.state.commands);
      paths.watch(element);
    };
    fill();
    return leaves && !growing ? leaveOutOfView(element, fill) : undefined;
  }, [html, growing, leaves, post, paths, store, isReadOnly]);
  return <div class="markdown-block" ref={holder} />;
}

const COMMAND_LINK = "#";

/** Makes slash commands in inline code links that write them into the message. */
function linkCommands(block: HTMLElement, commands: readonly AvailableCommand[]): void {
  for (const code of block.querySelectorAll<HTMLElement>(":not(pre, a) > code")) {
    const name = /^\/(\S+)/.exec(code.textContent)?.[1];
    if (commands.every((known) => known.name !== name)) continue;
    const link = document.createElement("a");
    link.className = "path-link";
    link.setAttribute("href", COMMAND_LINK);
    link.title = t("Write It into the Message");
    code.replaceWith(link);
    link.append(code);
  }
}

/** Blocks of a longer answer leave the DOM while they are far from the view, so that its size has a limit. Characters. */
const LONG_CHARS = 10_000;
/** Distance from the view at which a block comes back. */
const NEAR = "1000px";

const fills = new WeakMap<Element, () => void>();
let viewObserver: IntersectionObserver | undefined;

/** Empties `element` while it is far from the view, and keeps its height. Returns the end of it. */
function leaveOutOfView(element: HTMLElement, fill: () => void): () => void {
  // The margin counts from the transcript, which scrolls inside the page.
  const margins: IntersectionObserverInit & { readonly scrollMargin: string } = {
    rootMargin: NEAR,
    scrollMargin: NEAR,
  };
  viewObserver ??= new IntersectionObserver(followView, margins);
  const observer = viewObserver;
  fills.set(element, fill);
  observer.observe(element);
  return () => {
    observer.unobserve(element);
    element.removeAttribute("style");
  };
}

/** Reads the styles of all blocks before the first change: a read after a change would lay the page out again. */
function followView(entries: readonly IntersectionObserverEntry[]): void {
  const changes = entries.flatMap(({ target, isIntersecting, boundingClientRect: { height } }) => {
    if (!(target instanceof HTMLElement)) return [];
    const [first, last] = [target.firstElementChild, target.lastElementChild];
    if (first === null || last === null) return isIntersecting ? [() => fillAgain(target)] : [];
    if (isIntersecting || isInUse(target)) return [];
    // The margins of the content reach beyond the block.
    const { marginTop } = getComputedStyle(first);
    const { marginBottom } = getComputedStyle(last);
    return [() => empty(target, { height: `${height}px`, marginTop, marginBottom })];
  });
  for (const change of changes) change();
}

function fillAgain(block: HTMLElement): void {
  block.removeAttribute("style");
  fills.get(block)?.();
}

function empty(block: HTMLElement, place: Partial<CSSStyleDeclaration>): void {
  Object.assign(block.style, place);
  block.replaceChildren();
}

/** Elements whose blocks stay in the DOM. */
const held = new Set<HTMLElement>();

/** Fills all blocks in `element` and keeps them in the DOM, until the returned function is called. */
export function holdBlocks(element: HTMLElement): () => void {
  held.add(element);
  const blocks = [...element.querySelectorAll<HTMLElement>(".markdown-block")].filter((block) => fills.has(block));
  for (const block of blocks) if (block.firstElementChild === null) fillAgain(block);
  return () => {
    held.delete(element);
    for (const block of blocks) observeAgain(block);
  };
}

/** The element is held, or has the keyboard's focus, the selection, or the place where the next one begins. */
function isInUse(element: HTMLElement): boolean {
  if ([...held].some((other) => other.contains(element))) return true;
  return document.getSelection()?.containsNode(element, true) === true || element.contains(document.activeElement);
}

/** Fills the empty blocks of `list` in `range` until the browser has copied them. */
export function fillForCopy(list: HTMLElement, range: Range): void {
  const blocks = [...list.querySelectorAll(".markdown-block:empty")].filter((block) => range.intersectsNode(block));
  // The blocks keep their height, so nothing moves.
  for (const block of blocks) fills.get(block)?.();
  setTimeout(() => {
    for (const block of blocks.filter((filled) => filled.hasAttribute("style"))) {
      block.replaceChildren();
      // One that has come near the view meanwhile is filled again.
      observeAgain(block);
    }
  });
}

/** Has the observer report where the block is, unless it has left the page. */
function observeAgain(block: Element): void {
  viewObserver?.unobserve(block);
  if (block.isConnected) viewObserver?.observe(block);
}

const TAGS =
  "p br hr strong em s del code pre blockquote ul ol li a span div h1 h2 h3 h4 h5 h6 table thead tbody tr th td sup";
const ATTRIBUTES = ["href", "title", "class", "dir", "start", "align", "colspan", "rowspan"];

const purifier = createDOMPurify(window);

/** Last step before the DOM: HTML that can neither load nor run anything. */
export function sanitize(html: string): DocumentFragment {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(" "),
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // The parser has checked the address already; this is the second check.
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$)|[\w./-]+:\d)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}
