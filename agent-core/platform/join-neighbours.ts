/** The items in order, with one in place of neighbours that `join` makes one of. */
export function joinNeighbours<Item>(
  items: readonly Item[],
  join: (first: Item, second: Item) => Item | undefined,
): Item[] {
  const joined: Item[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    const both = last && join(last, item);
    if (both === undefined) joined.push(item);
    else joined[joined.length - 1] = both;
  }
  return joined;
}
