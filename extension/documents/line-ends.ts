/** Line ends of texts. VS Code has one kind in a document; a file may have several. Pure. */

export type LineEnd = "\n" | "\r\n";

/** All line ends as VS Code sees them, as one kind. */
export function evened(text: string, lineEnd: LineEnd): string {
  return text.replace(/\r\n|\r|\n/g, lineEnd);
}

export function differsInLineEndsOnly(one: string, other: string): boolean {
  return one !== other && evened(one, "\n") === evened(other, "\n");
}

/** Undefined when there is none, or more than one kind. */
export function onlyLineEnd(text: string): LineEnd | undefined {
  const kinds = new Set(text.match(/\r\n|\r|\n/g));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== "\r" ? (kind as LineEnd) : undefined;
}
