/** Rows of the transcript. Entries under a folded summary and entries without content have none. */
import type { Entry, PanelState } from "./state.ts";
import { isBlank } from "./streamed-text.ts";
import { visibleEntries } from "./summaries.ts";

export function finishedRows(state: Pick<PanelState, "entries" | "openSummaries">): readonly Entry[] {
  return visibleEntries(state).filter(isShown);
}

/** Adds the row of the growing text. Text stops growing with its turn. */
export function withOpen(rows: readonly Entry[], { open, running }: Pick<PanelState, "open" | "running">) {
  if (open === undefined || !isShown(open)) return rows;
  return [...rows, running ? open : { ...open, growing: false }];
}

function isShown(entry: Entry): boolean {
  switch (entry.type) {
    case "answer":
      return !isBlank(entry.text);
    case "tool":
      // The plan has a place of its own above the composer.
      return entry.kind !== "think" || entry.isMemory || entry.status === "failed";
    default:
      return true;
  }
}

/**
 * Id of a thought that stays the same when its session is loaded again: position of the user's message before it, and its
 * number after that message. `key`: of the thought's entry; default: the growing one. Undefined without such a message.
 */
export function thoughtId(entries: readonly Entry[], key: string): string | undefined {
  const place = entries.findLastIndex((entry) => entry.key === key);
  let number = 0;
  for (let index = (place < 0 ? entries.length : place) - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.type === "thought") number += 1;
    if (entry?.type === "user") return entry.position === undefined ? undefined : `${entry.position}.${number}`;
  }
  return undefined;
}
