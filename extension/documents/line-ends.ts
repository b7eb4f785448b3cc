/** Line ends of texts: a document of VS Code has one kind, a file may have several. Pure. */

export type LineEnd = "\n" | "\r\n";

export function normalised(text: string, lineEnd: LineEnd): string {
  const isNormal = lineEnd === "\n" && !text.includes("\r");
  return isNormal ? text : text.replace(/\r\n|\r|\n/g, lineEnd);
}

export function differsInLineEndsOnly(one: string, other: string): boolean {
  return one !== other && normalised(one, "\n") === normalised(other, "\n");
}

/** The one kind of line end in a text; undefined when there are several, or none. */
export function onlyLineEnd(text: string): LineEnd | undefined {
  const kinds = new Set(text.match(/\r\n|\r|\n/g));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== "\r" ? (kind as LineEnd) : undefined;
}
