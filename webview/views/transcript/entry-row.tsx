/** An entry's place in the list: tells a screen reader which of how many it is, and takes the focus of the keyboard. */
import type { Entry } from "../../state/state.ts";
import { EntryView } from "./entry-view.tsx";

/** Attribute of a row with the key of its entry. */
const KEY_ATTRIBUTE = "data-entry";

type EntryRowProps = {
  readonly entry: Entry;
  /** From 1. */
  readonly position: number;
  /** -1: there are more than are known. */
  readonly count: number;
};

export function EntryRow({ entry, position, count }: EntryRowProps) {
  return (
    <article
      class="row"
      tabIndex={-1}
      data-entry={entry.key}
      aria-label={labelOf(entry)}
      aria-posinset={position}
      aria-setsize={count}
    >
      <EntryView entry={entry} />
    </article>
  );
}

/** The row that `node` stands in, if any. */
export function rowAround(node: Node | null | undefined): HTMLElement | undefined {
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest<HTMLElement>(`[${KEY_ATTRIBUTE}]`) ?? undefined;
}

/** Key of the entry that a row shows. */
export function keyOfRow(row: HTMLElement | undefined): string | undefined {
  return row?.getAttribute(KEY_ATTRIBUTE) ?? undefined;
}

/** The row of the entry with this key; undefined while it is out of the window. */
export function findRow(list: HTMLElement, key: string): HTMLElement | undefined {
  return list.querySelector<HTMLElement>(`[${KEY_ATTRIBUTE}="${key}"]`) ?? undefined;
}

/** What shows by its look alone who or what speaks. */
function labelOf(entry: Entry): string | undefined {
  switch (entry.type) {
    case "user":
      return "You";
    case "answer":
      return "Answer";
    case "thought":
      return "Thoughts";
    case "tool":
      return entry.title;
    default:
      return undefined;
  }
}
