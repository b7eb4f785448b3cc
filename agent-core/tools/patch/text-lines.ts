import { escapePattern } from "../../platform/escape-pattern.ts";
import { breakAt } from "./line-breaks.ts";

/**
 * A text as lines with their offsets, so that a match by lines can be replaced byte for byte. A line is cut out on
 * demand: most lines of a long file never are.
 */
export class TextLines {
  readonly text: string;
  /** Texts that no line holds. */
  readonly #absent = new Set<string>();
  /** Offset of each line's first character. An empty line after the last line break does not count. */
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts: number[] = [];
    for (let start = 0; start < text.length; ) {
      starts.push(start);
      const newline = text.indexOf("\n", start);
      start = newline < 0 ? text.length : newline + 1;
    }
    this.#starts = starts;
  }

  get isAscii(): boolean {
    return isAscii(this.text);
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Without its line break; empty where there is no such line. */
  at(index: number): string {
    return this.text.slice(this.start(index), this.end(index));
  }

  slice(first: number, count: number): readonly string[] {
    return Array.from({ length: Math.min(count, this.length - first) }, (_, index) => this.at(first + index));
  }

  /** Offset of a line's first character; for lines after the last one, the text's end. */
  start(index: number): number {
    return this.#starts[index] ?? this.text.length;
  }

  /** Offset after a line's last character, before its line break. */
  end(index: number): number {
    const next = this.start(index + 1);
    if (next === this.start(index) || this.text[next - 1] !== "\n") return next;
    return this.text[next - 2] === "\r" && next - 2 >= this.start(index) ? next - 2 : next - 1;
  }

  /** Line break of a line; empty at the end of the text. */
  breakOf(index: number): string {
    return this.text.slice(this.end(index), this.start(index + 1));
  }

  /** Line break of the line before, or of the first line that has one. */
  breakNear(index: number): string {
    return (index > 0 && this.breakOf(Math.min(index, this.length) - 1)) || breakAt(this.text, this.start(index));
  }

  /** The line that contains an offset. */
  indexAt(offset: number): number {
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.start(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Lines that hold `words` (without a line break), in order, from line `from` on. */
  *holding(words: string, from = 0): Generator<number> {
    if (this.#absent.has(words)) return;
    let at = this.text.indexOf(words, this.start(from));
    if (at < 0 && from === 0) this.#absent.add(words);
    while (at >= 0) {
      const index = this.indexAt(at);
      yield index;
      if (index === this.length - 1) return;
      at = this.text.indexOf(words, this.start(index + 1));
    }
  }

  /** Lines that hold any of `texts`, in order: one walk through the text for all of them. */
  *holdingAny(texts: readonly string[]): Generator<number> {
    if (texts.length === 0) return;
    const any = new RegExp(texts.map(escapePattern).join("|"), "g");
    for (let found = any.exec(this.text); found !== null; found = any.exec(this.text)) {
      const index = this.indexAt(found.index);
      yield index;
      if (index === this.length - 1) return;
      any.lastIndex = this.start(index + 1);
    }
  }
}

/** In UTF-8 exactly the characters of ASCII take one byte; counting bytes is faster than any pattern. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** Leading spaces and tabs. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
