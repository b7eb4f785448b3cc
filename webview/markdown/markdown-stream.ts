/**
 * Markdown that grows: blocks that can no longer change are rendered once and kept, only the last one is rendered
 * again. In the end the result is the same as rendering the whole text at once, whatever the pieces were.
 */
import type { Env, MarkdownIt } from "markdown-it";
import type { StreamedText } from "../state/streamed-text.ts";
import { textFrom } from "../state/streamed-text.ts";
import { fenceLanguage } from "./parser.ts";

/** One top-level block. The same object as before while it has not changed. */
export type MarkdownBlock = {
  readonly id: number;
  /** Not sanitised yet. */
  readonly html: string;
  /** The fence at the end whose closing line has not come: its text grows without rendering anything again. */
  readonly openCode: { readonly language: string; readonly text: string } | undefined;
  readonly growing: boolean;
};

type Span = { readonly start: number; readonly end: number };

export class MarkdownStream {
  readonly #parser: MarkdownIt;
  #frozen: readonly MarkdownBlock[] = [];
  #env: Env = {};
  // Characters of the text that the frozen blocks cover.
  #offset = 0;
  #seen = -1;
  #done = false;
  #shown: readonly MarkdownBlock[] = [];

  constructor(parser: MarkdownIt) {
    this.#parser = parser;
  }

  /** The blocks of `text`, which must begin with what was given before. `done`: nothing will follow. */
  update(text: StreamedText, done: boolean): readonly MarkdownBlock[] {
    if (text.length === this.#seen && done === this.#done) return this.#shown;
    this.#seen = text.length;
    this.#done = done;
    if (done && this.#hasReferences()) this.#startOver();
    const tail = textFrom(text, this.#offset);
    if (done) this.#env = this.#referencesOf(tail);
    const spans = this.#split(tail, done);
    // The last block may still change, and so may one that begins on a line without its end.
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

  // A definition ([name]: target) also serves what stands before it, which is known only at the end.
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

  // Top-level blocks as ranges of `text`; lines that belong to none (blank ones, definitions) go with the one before.
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

// What markdown-it does to its input before it counts lines; the length stays the same but for \r\n.
function normalize(text: string): string {
  return text.replaceAll("\u0000", "\ufffd");
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

// A fence of the outermost level that has begun and not ended, when it is all there is.
function openFence(rest: string): MarkdownBlock["openCode"] {
  const opening = /^\s*?( {0,3})(`{3,}|~{3,})([^\n]*)\n/.exec(rest);
  const fence = opening?.[2];
  if (!opening || !fence || (fence.startsWith("`") && opening[3]?.includes("`"))) return undefined;
  // Indented fences shed their indentation line by line: the parser does that.
  if (opening[1] !== "" || !/^\s*\n?$/.test(rest.slice(0, opening[0].indexOf(fence)))) return undefined;
  const text = rest.slice(opening[0].length);
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`, "m");
  if (closing.test(text)) return undefined;
  return { language: fenceLanguage(opening[3] ?? ""), text };
}
