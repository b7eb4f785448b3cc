/** Smallest single range that turns one text into another; cursors, folds and breakpoints outside it stay. */

export type MinimalEdit = {
  /** Offsets into the old text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** Never cuts a CRLF or a surrogate pair in two. Undefined when the texts are equal. */
export function minimalEdit(before: string, after: string): MinimalEdit | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  while (start > 0 && splitsPair(before, start)) start -= 1;
  let tail = 0;
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  while (tail > 0 && (splitsPair(before, before.length - tail) || splitsPair(after, after.length - tail))) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

function splitsPair(text: string, at: number): boolean {
  const pair = text.slice(at - 1, at + 1);
  return pair === "\r\n" || /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair);
}
