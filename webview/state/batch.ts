/** Many events at once: what they change again and again is copied with the first of them only. */

/** What the batch under way has made: nobody else has seen it, so it may change in place. */
let own: WeakSet<object> | undefined;

/** Runs `work`, which may hand on nothing but its last state. */
export function asBatch<T>(work: () => T): T {
  own = new WeakSet();
  try {
    return work();
  } finally {
    own = undefined;
  }
}

/** `value` itself when the batch under way has made it, else a copy; either may be changed until it is handed on. */
export function ownCopy<Shared extends object, Copy extends Shared>(
  value: Shared,
  copy: (value: Shared) => Copy,
): Copy {
  if (own?.has(value)) return value as Copy; // it is in the set because this function has made it so
  const copied = copy(value);
  own?.add(copied);
  return copied;
}
