/** The rows of the conversation: entries under a closed summary, and those that show nothing, have none. */
import type { Entry, PanelState } from "./state.ts";
import { isBlank } from "./streamed-text.ts";
import { visibleEntries } from "./summaries.ts";

/** Rows of the finished entries. */
export function finishedRows(state: Pick<PanelState, "entries" | "openSummaries">): readonly Entry[] {
  return visibleEntries(state).filter(isShown);
}

/** The rows with that of the text that grows behind them. Without a turn nothing grows any more. */
export function withOpen(rows: readonly Entry[], { open, running }: Pick<PanelState, "open" | "running">) {
  if (open === undefined || !isShown(open)) return rows;
  return [...rows, running ? open : { ...open, growing: false }];
}

function isShown(entry: Entry): boolean {
  switch (entry.type) {
    case "answer":
      return !isBlank(entry.text);
    case "tool":
      // Keeping the plan is shown by the plan itself.
      return entry.kind !== "think" || entry.status === "failed";
    default:
      return true;
  }
}

/** A thought's name that stays when its session is shown again, of which more or less may be there then. */

/**
 * Position of the user's message that it follows, and its number since. `key`: of the thought; one that is not among
 * the entries grows behind them. Undefined where the message is not there, or its position not told.
 */
export function placeOfThought(entries: readonly Entry[], key: string): string | undefined {
  const place = entries.findLastIndex((entry) => entry.key === key);
  let number = 0;
  for (let index = (place < 0 ? entries.length : place) - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry?.type === "thought") number += 1;
    if (entry?.type === "user") return entry.position === undefined ? undefined : `${entry.position}.${number}`;
  }
  return undefined;
}
