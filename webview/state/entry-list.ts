/** The list of entries as an immutable value, with an index of its tool calls. */
import { ownCopy } from "./batch.ts";
import type { Entry } from "./state.ts";

type Entries = readonly Entry[];

/** Index of each tool call by its id. A list hands it on to its successor, which differs by one entry. */
const callIndexes = new WeakMap<Entries, Map<string, number>>();

/** Appends an entry. Within a batch its cost does not grow with the list. */
export function withEntry(entries: Entries, entry: Entry): Entries {
  return changed(entries, entries.length, entry);
}

/** Replaces the entry at `index`; both are the same tool call, or neither is one. */
export function withChanged(entries: Entries, index: number, entry: Entry): Entries {
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

function changed(entries: Entries, index: number, entry: Entry): Entries {
  const next = ownCopy(entries, (shared): Entry[] => [...shared]);
  next[index] = entry;
  const known = callIndexes.get(entries);
  if (known === undefined) return next;
  if (entry.type === "tool") known.set(entry.id, index);
  callIndexes.delete(entries);
  callIndexes.set(next, known);
  return next;
}
