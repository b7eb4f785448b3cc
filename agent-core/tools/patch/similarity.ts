/** How alike two lines are. */

/** Longer lines are compared by their beginnings. Characters. */
const COMPARED_CHARS = 400;

/** 1: the same; 0: nothing in common. By pairs of neighbouring characters (Dice's coefficient), without outer blanks. */
export function lineSimilarity(first: string, second: string): number {
  const [one, other] = [first.trim().slice(0, COMPARED_CHARS), second.trim().slice(0, COMPARED_CHARS)];
  if (one === other) return 1;
  if (one.length < 2 || other.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < one.length; at += 1) {
    const pair = one.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let at = 0; at + 1 < other.length; at += 1) {
    const pair = other.slice(at, at + 2);
    const left = pairs.get(pair) ?? 0;
    if (left === 0) continue;
    shared += 1;
    pairs.set(pair, left - 1);
  }
  return (2 * shared) / (one.length + other.length - 2);
}
