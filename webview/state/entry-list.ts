/** The list of entries as a value: adding to it is cheap in a batch, and a tool call is found by its id, not by a search. */
import { ownCopy } from "./batch.ts";
import type { Entry } from "./state.ts";

type Entries = readonly Entry[];

/** Where each tool call stands in a list. It goes over to the list's successor, which differs by one entry. */
const places = new WeakMap<Entries, Map<string, number>>();

/** The list with `entry` at its end. */
export function withEntry(entries: Entries, entry: Entry): Entries {
  return changed(entries, entries.length, entry);
}

/** The list with `entry` in the place of the one at `index`; both are the same tool call, or neither is one. */
export function withChanged(entries: Entries, index: number, entry: Entry): Entries {
  return changed(entries, index, entry);
}

/** Index of the tool call with this id; undefined when there is none. */
export function placeOfCall(entries: Entries, id: string): number | undefined {
  const known = places.get(entries);
  if (known) return known.get(id);
  const found = new Map<string, number>();
  for (const [index, entry] of entries.entries()) if (entry.type === "tool") found.set(entry.id, index);
  places.set(entries, found);
  return found.get(id);
}

function changed(entries: Entries, index: number, entry: Entry): Entries {
  const next = ownCopy(entries, (shared): Entry[] => [...shared]);
  next[index] = entry;
  const known = places.get(entries);
  if (known === undefined) return next;
  if (entry.type === "tool") known.set(entry.id, index);
  places.delete(entries);
  places.set(next, known);
  return next;
}
