/**
 * A text as lines that know where they stand, so that a match by lines can be replaced byte for byte. A line is cut out
 * only when it is asked for: most lines of a long file never are.
 */

export class TextLines {
  readonly text: string;
  /** Offset of each line's first character. A last line that is empty because the text ends in a line break is none. */
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

  /** Offset of a line's first character; behind the last line that of the text's end. */
  start(index: number): number {
    return this.#starts[index] ?? this.text.length;
  }

  /** Offset behind a line's last character, before its line break. */
  end(index: number): number {
    const next = this.start(index + 1);
    if (next === this.start(index) || this.text[next - 1] !== "\n") return next;
    return this.text[next - 2] === "\r" && next - 2 >= this.start(index) ? next - 2 : next - 1;
  }

  /** What ends a line: a line break, or nothing at the end of the text. */
  breakOf(index: number): string {
    return this.text.slice(this.end(index), this.start(index + 1));
  }

  /** The line that an offset lies in. */
  indexAt(offset: number): number {
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.start(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Lines that hold `words` (no line break in it), in order, from line `from` on. */
  *holding(words: string, from = 0): Generator<number> {
    for (let at = this.text.indexOf(words, this.start(from)); at >= 0; ) {
      const index = this.indexAt(at);
      yield index;
      at = this.text.indexOf(words, this.start(index + 1));
      if (index === this.length - 1) return;
    }
  }
}

/** Leading blanks and tabs. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
