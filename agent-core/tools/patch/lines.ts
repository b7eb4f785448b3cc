/** A text as lines that know where they stand, so that a match by lines can be replaced byte for byte. */

export type Line = {
  /** Without its line break. */
  readonly text: string;
  /** Offset of its first character. */
  readonly start: number;
  /** Offset behind its last character, before the line break. */
  readonly end: number;
};

/** A last line that is empty because the text ends in a line break is none. */
export function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const next = newline < 0 ? text.length : newline;
    const end = newline > start && text[newline - 1] === "\r" ? newline - 1 : next;
    lines.push({ text: text.slice(start, end), start, end });
    start = next + 1;
  }
  return lines;
}

/** Leading blanks and tabs. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
