/** Cuts text into pieces, as tokens do. */

/** Characters of a piece of text or of a call's arguments. */
const PIECE_CHARS = 7;

/** Never splits a character. */
export function pieces(words: string, chars: number = PIECE_CHARS): readonly string[] {
  return words.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
}
