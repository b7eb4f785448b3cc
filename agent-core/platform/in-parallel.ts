/** Work on many items at once, with a limit. */

/**
 * Runs `work` for each item, at most `limit` at once. After an error no further item begins; it rejects with that error when
 * all running work has ended.
 */
export async function inParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const errors: unknown[] = [];
  const runNext = async (): Promise<void> => {
    try {
      for (let next = await waiting.next(); errors.length === 0 && next.done !== true; next = await waiting.next()) {
        await work(next.value);
      }
    } catch (error) {
      errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: limit }, runNext));
  if (errors.length === 0) return;
  await waiting.return?.();
  throw errors[0];
}

/** Results of `work` in the order of the items; otherwise as `inParallel`. */
export async function mapInParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  await inParallel(items.entries(), limit, async ([index, item]) => {
    results[index] = await work(item);
  });
  return results;
}
