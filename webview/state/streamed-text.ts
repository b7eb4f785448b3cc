/** Text that grows by deltas: an append copies no earlier text, and a read can start at an offset. */

/** Size at which a piece is closed: it bounds both the growing tail and the number of pieces. */
const PIECE_CHARS = 4096;

export type StreamedText = {
  readonly pieces: readonly string[];
  readonly tail: string;
  /** UTF-16 units dropped from the beginning by `keepEnd`. */
  readonly dropped: number;
  /** UTF-16 units appended so far, the dropped ones included. */
  readonly length: number;
};

export const emptyText: StreamedText = { pieces: [], tail: "", dropped: 0, length: 0 };

/** Appends `delta`. The cost depends on the delta, not on the text. */
export function appendText(text: StreamedText, delta: string): StreamedText {
  const tail = text.tail + delta;
  const length = text.length + delta.length;
  if (tail.length < PIECE_CHARS) return { ...text, tail, length };
  return { ...text, pieces: [...text.pieces, tail], tail: "", length };
}

/** Text after `offset`, which counts dropped units too. An offset in the dropped part returns all that is left. */
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

export function wholeText(text: StreamedText): string {
  return textFrom(text, 0);
}

export function isBlank(text: StreamedText): boolean {
  return text.tail.trim() === "" && text.pieces.every((piece) => piece.trim() === "");
}

/** Drops whole pieces from the beginning until at most `maxChars` plus one piece are left. */
export function keepEnd(text: StreamedText, maxChars: number): StreamedText {
  let first = 0;
  let dropped = text.dropped;
  while (text.length - dropped > maxChars && first < text.pieces.length) {
    dropped += text.pieces[first]?.length ?? 0;
    first += 1;
  }
  return first === 0 ? text : { ...text, pieces: text.pieces.slice(first), dropped };
}
