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
