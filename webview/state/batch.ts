/** Batches of events: a batch copies a value at its first change and then changes the copy in place. */

/** Copies of the current batch. Nobody else has them, so they may change in place. */
let own: WeakSet<object> | undefined;

/** Runs `work` as a batch. Only its result may leave the batch. */
export function asBatch<T>(work: () => T): T {
  own = new WeakSet();
  try {
    return work();
  } finally {
    own = undefined;
  }
}

/** A copy of `value` that may be changed within the batch: `value` itself when the batch has made it. */
export function ownCopy<Shared extends object, Copy extends Shared>(
  value: Shared,
  copy: (value: Shared) => Copy,
): Copy {
  if (own?.has(value)) return value as Copy; // every value in the set is a copy
  const copied = copy(value);
  own?.add(copied);
  return copied;
}
