/**
 * The list of entries as an immutable value, with an index of its tool calls. A batch of events copies a value at its first
 * change and then changes the copy in place.
 */
import type { Entry } from "./state.ts";

type Entries = readonly Entry[];

/** Index of each tool call by its id. A list hands it on to its successor, which differs by one entry. */
const callIndexes = new WeakMap<Entries, Map<string, number>>();

/** Appends an entry. Within a batch its cost does not grow with the list. */
export function withEntry<One extends Entry>(entries: readonly One[], entry: One): readonly One[] {
  return changed(entries, entries.length, entry);
}

/** Replaces the entry at `index`; both are the same tool call, or neither is one. */
export function withChanged<One extends Entry>(entries: readonly One[], index: number, entry: One): readonly One[] {
  return changed(entries, index, entry);
}

export function indexOfCall(entries: Entries, id: string): number | undefined {
  const known = callIndexes.get(entries);
  if (known) return known.get(id);
  const found = new Map<string, number>();
  for (const [index, entry] of entries.entries()) if (entry.type === "tool") found.set(entry.id, index);
  callIndexes.set(entries, found);
  return found.get(id);
}

function changed<One extends Entry>(entries: readonly One[], index: number, entry: One): readonly One[] {
  const next = ownCopy(entries, (shared): One[] => [...shared]);
  next[index] = entry;
  const known = callIndexes.get(entries);
  if (known === undefined) return next;
  if (entry.type === "tool") known.set(entry.id, index);
  callIndexes.delete(entries);
  callIndexes.set(next, known);
  return next;
}

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
