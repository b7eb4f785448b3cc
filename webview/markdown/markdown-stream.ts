/**
 * Incremental Markdown: blocks that can no longer change are rendered once, only the last block is rendered again. The
 * final result equals a rendering of the whole text, for any sequence of deltas. A block beyond the limits is divided
 * into parts: code under its fence, rows of a table under their header, other text as it comes.
 */
import type { Env, MarkdownIt } from "markdown-it";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import { type StreamedText, textFrom } from "../state/streamed-text.ts";
import { type FenceInfo, fenceInfo } from "./parser.ts";

/** One or several top-level blocks, or a part of a long one. An unchanged block keeps its object. */
export type MarkdownBlock = {
  readonly id: number;
  /** Unsanitised. */
  readonly html: string;
  /** Code without another rendering: an unclosed fence at the end, or a part of a long one. */
  readonly code: (FenceInfo & { readonly text: string }) | undefined;
  readonly growing: boolean;
  /** Number of the part of a long block, from 0. */
  readonly part: number;
  readonly source: string;
};

type Content = Pick<MarkdownBlock, "html" | "code" | "source">;
type Tokens = Parameters<MarkdownIt["block"]["parse"]>[3];

/** Part of a long block that waits for its next part. */
type Continued = {
  readonly part: number;
  /** Type of the block's first token. */
  readonly type: string;
  readonly fence: Fence | undefined;
  /** Header lines that a further part of a table repeats. */
  readonly header: string;
};

const NOT_CONTINUED: Continued = { part: 0, type: "", fence: undefined, header: "" };

export type TextLimit = {
  readonly chars: number;
  readonly lines: number;
  /** Each becomes an element, or part of one: their number decides on the time. Undefined: they do not count. */
  readonly marks?: number;
};

/** Text of one step, unless a single block is longer. */
const STEP_LIMIT: TextLimit = { chars: 10_000, lines: 200, marks: 500 };

/** Elements after which an update ends. */
const UPDATE_ELEMENTS = 300;

/** A code block has a toolbar and colours, a formula has many small elements. */
const RICH = /<pre|class="math/g;
const ELEMENTS_OF_RICH = 10;

/** A part of this size takes the browser about 20 ms; a longer block is rendered part by part. */
const TEXT_LIMIT: TextLimit = { chars: 20_000, lines: 200, marks: 1_000 };

/** Code is one node of text, so a part of it may be longer. */
const CODE_LIMIT: TextLimit = { chars: 50_000, lines: 1_000 };

/** A definition applies to the text before it only in texts up to this size. Characters. */
const REFERENCES_CHARS = 2 * TEXT_LIMIT.chars;

export class MarkdownStream {
  readonly #parser: MarkdownIt;
  #frozen: readonly MarkdownBlock[] = [];
  #env: Env = {};
  /** Length of the text in the finished blocks. */
  #offset = 0;
  #continued = NOT_CONTINUED;
  #seen = -1;
  #done = false;
  #isBehind = false;
  #shown: readonly MarkdownBlock[] = [];

  constructor(parser: MarkdownIt) {
    this.#parser = parser;
  }

  /** The last update did not reach the end of its text: the next one continues. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Blocks of `text`, which must start with the text of the previous call. `done`: the text is complete. */
  update(text: StreamedText, done: boolean): readonly MarkdownBlock[] {
    const isNew = text.length !== this.#seen || done !== this.#done;
    if (!isNew && !this.#isBehind) return this.#shown;
    if (done && isNew) this.#resolveReferences(text);
    this.#seen = text.length;
    this.#done = done;
    let rest = textFrom(text, this.#offset);
    const end = this.#offset + STEP_LIMIT.chars;
    let settled: number;
    let elements = 0;
    // The time of an update has a limit, however many blocks it has.
    do {
      const known = this.#frozen.length;
      settled = this.#settle(rest, done, STEP_LIMIT);
      rest = rest.slice(settled);
      this.#offset = text.length - rest.length;
      for (const block of this.#frozen.slice(known)) elements += elementsOf(block);
    } while (settled > 0 && rest !== "" && this.#offset < end && elements < UPDATE_ELEMENTS);
    this.#isBehind = settled > 0 && rest !== "";
    const growing = settled === 0 ? this.#growing(rest) : undefined;
    this.#shown = growing === undefined ? this.#frozen : [...this.#frozen, growing];
    return this.#shown;
  }

  // A definition ([name]: target) also applies to text before it, so it resolves only at the end.
  #resolveReferences(text: StreamedText): void {
    if (text.length > REFERENCES_CHARS) return;
    if (Object.keys(this.#env.references ?? {}).length > 0) {
      this.#frozen = [];
      this.#offset = 0;
      this.#env = {};
      this.#continued = NOT_CONTINUED;
    }
    const tail = textFrom(text, this.#offset);
    if (tail.includes("]:")) this.#blockTokens(tail);
  }

  /** Renders blocks at the beginning of `rest` that can no longer change, and gives their length. */
  #settle(rest: string, done: boolean, limit: TextLimit): number {
    const fence = this.#continued.fence ?? openingFence(rest.slice(0, limit.chars));
    if (fence !== undefined) return this.#settleFence(rest, fence, done);
    const window = rest.slice(0, fittingLength(rest, limit));
    const isWhole = done || window.length < rest.length;
    const blocks = this.#split(
      this.#continued.header + (isWhole ? window : window.slice(0, window.lastIndexOf("\n") + 1)),
    );
    const [first, second] = blocks;
    const end = this.#endOfPart(rest, first?.type, second?.start);
    if (end === 0) {
      this.#continued = NOT_CONTINUED;
      return this.#settle(rest, done, limit);
    }
    if (end !== undefined) return this.#freezeText(window.slice(0, end), NOT_CONTINUED);
    if (done && window.length === rest.length) return this.#freezeText(window, NOT_CONTINUED);
    if (second !== undefined) return this.#freezeText(window.slice(0, blocks.at(-1)?.start), NOT_CONTINUED);
    if (limit === STEP_LIMIT && window.length < rest.length) return this.#settle(rest, done, TEXT_LIMIT);
    if (!isWhole) return 0;
    return this.#freezeText(window, first === undefined ? NOT_CONTINUED : this.#continuing(first.type, window));
  }

  /** Length of the last part of a long block; undefined if no such block ends in the window. */
  #endOfPart(rest: string, firstType: string | undefined, secondStart: number | undefined): number | undefined {
    const { part, header, type } = this.#continued;
    if (part === 0 || firstType === undefined) return undefined;
    if (firstType !== type || (type === "paragraph_open" && rest.startsWith("\n"))) return 0;
    return secondStart === undefined ? undefined : Math.max(0, secondStart - header.length);
  }

  #continuing(type: string, window: string): Continued {
    const { part, header } = this.#continued;
    const opening = type.endsWith("_list_open") ? openFenceLine(window) : undefined;
    // The rest of the code is a block of its own, and the list goes on after it.
    if (opening !== undefined) return { part: part + 1, type: "fence", fence: undefined, header: opening };
    const isTableBegin = part === 0 && type === "table_open";
    return { part: part + 1, type, fence: undefined, header: isTableBegin ? tableHeader(window) : header };
  }

  #freezeText(source: string, next: Continued): number {
    this.#freeze({ html: this.#render(this.#continued.header + source, this.#env), code: undefined, source }, next);
    return source.length;
  }

  #settleFence(rest: string, fence: Fence, done: boolean): number {
    const start = this.#continued.fence === undefined ? fence.start : 0;
    const code = rest.slice(start);
    const length = fittingLength(code, CODE_LIMIT);
    const text = code.slice(0, length);
    const found = closingFence(text, fence.mark);
    // The last line may still grow.
    const closing = found && (done || text.endsWith("\n") || found.end < code.length) ? found : undefined;
    const isOver = closing !== undefined || length === code.length;
    if (isOver && closing === undefined && !done) return 0;
    const end = start + (closing?.end ?? length);
    if (isOver && this.#continued.part === 0) return this.#freezeText(rest.slice(0, end), NOT_CONTINUED);
    const source = text.slice(0, closing?.start ?? length);
    const next = isOver ? NOT_CONTINUED : { ...NOT_CONTINUED, part: this.#continued.part + 1, fence };
    this.#freeze({ html: "", code: { ...fence.info, text: containedText(source) }, source }, next);
    return end;
  }

  #freeze(content: Content, next: Continued): void {
    if (content.code === undefined ? content.source.trim() !== "" : content.source !== "") {
      this.#frozen = [...this.#frozen, this.#block(content, false)];
    }
    this.#continued = next;
  }

  #block(content: Content, growing: boolean): MarkdownBlock {
    return { id: this.#frozen.length, ...content, growing, part: this.#continued.part };
  }

  /** Top-level blocks. Lines outside blocks (blank, definitions) belong to the block before. */
  #split(text: string): readonly { readonly type: string; readonly start: number }[] {
    const tokens = this.#blockTokens(text).filter(({ level, nesting, map }) => level === 0 && nesting >= 0 && map);
    const lines = lineStarts(text);
    return tokens.map(({ type, map }, index) => ({ type, start: index === 0 ? 0 : (lines[map?.[0] ?? 0] ?? 0) }));
  }

  #blockTokens(text: string): Tokens {
    const tokens: Tokens = [];
    this.#parser.block.parse(text.replaceAll("\u0000", "\ufffd"), this.#parser, this.#env, tokens);
    return tokens;
  }

  #render(source: string, env: Env): string {
    return containedText(this.#parser.render(source, env));
  }

  #growing(rest: string): MarkdownBlock | undefined {
    if (rest.trim() === "") return undefined;
    const { header } = this.#continued;
    const fence = this.#continued.fence ?? openingFence(rest);
    const text = rest.slice(this.#continued.fence === undefined ? fence?.start : 0);
    const isOpen = fence !== undefined && closingFence(text, fence.mark) === undefined;
    if (isOpen || this.#continued.fence !== undefined) {
      const code = { ...(fence?.info ?? { language: "", path: "" }), text: containedText(text) };
      return this.#block({ html: "", code, source: rest }, true);
    }
    const html = this.#render(header + rest, { ...this.#env });
    return this.#block({ html, code: undefined, source: rest }, true);
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Length of the beginning of `text` that a limit allows. It ends at a line end, else at a space, else anywhere. */
function fittingLength(text: string, { chars, lines, marks }: TextLimit): number {
  let [end, left] = [0, marks ?? 0];
  for (let line = 0; line < lines && end < text.length; line += 1) {
    const next = text.indexOf("\n", end) + 1 || text.length;
    if (next > chars) return end || lengthInLine(text, chars);
    const line = text.slice(end, next);
    if (marks !== undefined) left -= countOf(line, MARKS) + MARKS_OF_DOLLAR * countOf(line, /\$/g);
    if (left < 0 && end > 0) return end;
    end = next;
  }
  return end;
}

/** Marks of inline text, ends of a table's cells, and addresses. */
const MARKS = /([*_~`])\1*|[[<|]|:\/\//g;
/** A dollar sign may begin or end a formula, which has many small elements. */
const MARKS_OF_DOLLAR = 5;

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function elementsOf({ html, code }: MarkdownBlock): number {
  return code === undefined ? countOf(html, /<\w/g) + ELEMENTS_OF_RICH * countOf(html, RICH) : ELEMENTS_OF_RICH;
}

function lengthInLine(line: string, chars: number): number {
  const space = line.lastIndexOf(" ", chars - 1) + 1;
  if (space > chars / 2) return space;
  const isSurrogatePair = /[\ud800-\udbff]/.test(line[chars - 1] ?? "");
  return isSurrogatePair ? chars - 1 : chars;
}

export type Fence = {
  /** Run of backticks or tildes. */
  readonly mark: string;
  readonly info: FenceInfo;
  /** Offset of the code. */
  readonly start: number;
};

/** Fence at the beginning of `text`, without indentation; undefined for other text. */
export function openingFence(text: string): Fence | undefined {
  const opening = /^(?:[ \t]*\n)*(`{3,}|~{3,})([^\n]{0,1000})\n/.exec(text);
  const [all = "", mark, info = ""] = opening ?? [];
  if (mark === undefined || (mark.startsWith("`") && info.includes("`"))) return undefined;
  return { mark, info: fenceInfo(info), start: all.length };
}

/** Offsets of the line that closes the fence; undefined while it is open. */
export function closingFence(code: string, mark: string): { readonly start: number; readonly end: number } | undefined {
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*(?:\\n|(?![\\s\\S]))`, "m").exec(code);
  return closing === null ? undefined : { start: closing.index, end: closing.index + closing[0].length };
}

/** First line of the fence in a list that is open at the end of `text`. Deeper code than three spaces is left as it is. */
export function openFenceLine(text: string): string | undefined {
  let open: { readonly line: string; readonly mark: string } | undefined;
  for (const line of text.split("\n")) {
    const [, lead = "", mark = "", info = ""] =
      /^((?: {0,3}(?:[-*+]|\d{1,9}[.)]))? {0,3})(`{3,}|~{3,})([^`]*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (line.trim() === open.mark) open = undefined;
    } else if (mark !== "") open = { line: `${" ".repeat(Math.min(3, lead.length))}${mark}${info}\n`, mark };
  }
  return open?.line;
}

/** A longer header is not repeated. Characters. */
const HEADER_CHARS = 2_000;

/** Header and delimiter row of a table, which begins `table`. */
export function tableHeader(table: string): string {
  const header = /^\s*[^\n]*\n[^\n]*\n/.exec(table)?.[0] ?? "";
  return header.length <= HEADER_CHARS ? header : "";
}
