/**
 * Incremental Markdown: blocks that can no longer change are rendered once, only the last block is rendered again. The
 * final result equals a rendering of the whole text, for any sequence of deltas.
 */
import type { Env, MarkdownIt } from "markdown-it";
import type { StreamedText } from "../state/streamed-text.ts";
import { textFrom } from "../state/streamed-text.ts";
import { fenceLanguage } from "./parser.ts";

/** A top-level block. An unchanged block keeps its object. */
export type MarkdownBlock = {
  readonly id: number;
  /** Unsanitised. */
  readonly html: string;
  /** An unclosed fence at the end: its text grows without another rendering. */
  readonly openCode: { readonly language: string; readonly text: string } | undefined;
  readonly growing: boolean;
};

type Span = { readonly start: number; readonly end: number };

export class MarkdownStream {
  readonly #parser: MarkdownIt;
  #frozen: readonly MarkdownBlock[] = [];
  #env: Env = {};
  /** Length of the text in the finished blocks. */
  #offset = 0;
  #seen = -1;
  #done = false;
  #shown: readonly MarkdownBlock[] = [];

  constructor(parser: MarkdownIt) {
    this.#parser = parser;
  }

  /** Blocks of `text`, which must start with the text of the previous call. `done`: the text is complete. */
  update(text: StreamedText, done: boolean): readonly MarkdownBlock[] {
    if (text.length === this.#seen && done === this.#done) return this.#shown;
    this.#seen = text.length;
    this.#done = done;
    if (done && this.#hasReferences()) this.#startOver();
    const tail = textFrom(text, this.#offset);
    if (done) this.#env = this.#referencesOf(tail);
    const spans = this.#split(tail, done);
    // The last block may still change, and so may a block on an unfinished line.
    const settled = done ? spans.length : Math.max(0, spans.length - 1);
    const fresh = spans.slice(0, settled).map((span, index) => this.#render(tail, span, index));
    if (fresh.length > 0) this.#freeze(fresh, spans[settled]?.start ?? tail.length);
    const rest = textFrom(text, this.#offset);
    this.#shown = rest.trim() === "" ? this.#frozen : [...this.#frozen, this.#growing(rest)];
    return this.#shown;
  }

  #freeze(blocks: readonly MarkdownBlock[], length: number): void {
    this.#frozen = [...this.#frozen, ...blocks];
    this.#offset += length;
  }

  // A definition ([name]: target) also applies to text before it, so it resolves only at the end.
  #hasReferences(): boolean {
    return Object.keys(this.#env.references ?? {}).length > 0;
  }

  #startOver(): void {
    this.#frozen = [];
    this.#offset = 0;
    this.#env = {};
  }

  #referencesOf(text: string): Env {
    const env: Env = { ...this.#env };
    this.#parser.parse(text, env);
    return env;
  }

  /** Top-level blocks as ranges of `text`. Lines outside blocks (blank, definitions) belong to the block before. */
  #split(text: string, done: boolean): readonly Span[] {
    const complete = done ? text : text.slice(0, text.lastIndexOf("\n") + 1);
    const tokens = this.#blockTokens(complete);
    const starts = lineStarts(complete);
    const begins = tokens
      .filter((token) => token.level === 0 && token.nesting >= 0 && token.map)
      .map((token) => starts[token.map?.[0] ?? 0] ?? 0);
    return begins.map((start, index) => ({
      start: index === 0 ? 0 : start,
      end: begins[index + 1] ?? complete.length,
    }));
  }

  #blockTokens(text: string) {
    const tokens: Parameters<MarkdownIt["block"]["parse"]>[3] = [];
    this.#parser.block.parse(normalize(text), this.#parser, this.#env, tokens);
    return tokens;
  }

  #render(text: string, span: Span, index: number): MarkdownBlock {
    const id = this.#frozen.length + index;
    const html = this.#parser.render(text.slice(span.start, span.end), this.#env);
    return { id, html, openCode: undefined, growing: false };
  }

  #growing(rest: string): MarkdownBlock {
    const id = this.#frozen.length;
    const code = openFence(rest);
    if (code) return { id, html: "", openCode: code, growing: true };
    return { id, html: this.#parser.render(rest, { ...this.#env }), openCode: undefined, growing: true };
  }
}

/** Normalises like markdown-it does before it counts lines. Only \r\n changes the length. */
function normalize(text: string): string {
  return text.replaceAll("\u0000", "\ufffd");
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The unclosed top-level fence, if the source is nothing else. */
function openFence(rest: string): MarkdownBlock["openCode"] {
  const opening = /^\s*?( {0,3})(`{3,}|~{3,})([^\n]*)\n/.exec(rest);
  const fence = opening?.[2];
  if (!opening || !fence || (fence.startsWith("`") && opening[3]?.includes("`"))) return undefined;
  // The parser removes the indentation of indented fences.
  if (opening[1] !== "" || !/^\s*\n?$/.test(rest.slice(0, opening[0].indexOf(fence)))) return undefined;
  const text = rest.slice(opening[0].length);
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`, "m");
  if (closing.test(text)) return undefined;
  return { language: fenceLanguage(opening[3] ?? ""), text };
}
