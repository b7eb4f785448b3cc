/** Text that may stop in the middle of a character, as tokens do: the first half waits for the second. */

export type WholeCharacters = { readonly text: string; readonly held: string };

/** Joins what was held with the next piece, and holds back a trailing half. Halves that never meet become U+FFFD. */
export function wholeCharacters(held: string, piece: string): WholeCharacters {
  const joined = held + piece;
  const last = joined.charCodeAt(joined.length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  const text = isHalf ? joined.slice(0, -1) : joined;
  return { text: text.toWellFormed(), held: isHalf ? joined.slice(-1) : "" };
}
