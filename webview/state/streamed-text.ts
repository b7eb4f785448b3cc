/** Text that grows by small pieces: appending never copies what is already there, reading can start at a cursor. */

// A piece is closed at this size, so that neither the growing tail nor the list of pieces is ever long.
const PIECE_CHARS = 4096;

export type StreamedText = {
  /** Closed pieces, in order. */
  readonly pieces: readonly string[];
  /** The growing end. */
  readonly tail: string;
  /** UTF-16 units dropped from the beginning by `keepEnd`. */
  readonly dropped: number;
  /** UTF-16 units appended so far, the dropped ones included. */
  readonly length: number;
};

export const emptyText: StreamedText = { pieces: [], tail: "", dropped: 0, length: 0 };

/** The text with `delta` at its end. Cost grows with the delta, not with the text. */
export function appendText(text: StreamedText, delta: string): StreamedText {
  const tail = text.tail + delta;
  const length = text.length + delta.length;
  if (tail.length < PIECE_CHARS) return { ...text, tail, length };
  return { ...text, pieces: [...text.pieces, tail], tail: "", length };
}

/** What follows `offset` (counted from the very beginning); all that is left when `offset` was dropped already. */
export function textFrom(text: StreamedText, offset: number): string {
  let start = text.length - text.tail.length;
  if (offset >= start) return text.tail.slice(offset - start);
  const parts = [text.tail];
  for (let index = text.pieces.length - 1; index >= 0 && start > offset; index -= 1) {
    const piece = text.pieces[index] ?? "";
    start -= piece.length;
    parts.push(offset > start ? piece.slice(offset - start) : piece);
  }
  return parts.reverse().join("");
}

/** All of it as one string. */
export function wholeText(text: StreamedText): string {
  return textFrom(text, 0);
}

/** True when there is nothing but white space. */
export function isBlank(text: StreamedText): boolean {
  return text.tail.trim() === "" && text.pieces.every((piece) => piece.trim() === "");
}

/** Drops whole pieces from the beginning until at most `maxChars` (and one piece) are left. */
export function keepEnd(text: StreamedText, maxChars: number): StreamedText {
  let first = 0;
  let dropped = text.dropped;
  while (text.length - dropped > maxChars && first < text.pieces.length) {
    dropped += text.pieces[first]?.length ?? 0;
    first += 1;
  }
  return first === 0 ? text : { ...text, pieces: text.pieces.slice(first), dropped };
}
