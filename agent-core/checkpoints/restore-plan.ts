/** Which state of which files a restore leads to, from what the journal tells. Pure. */
import type { FileChange, FileState } from "../sessions/entry.ts";
import { isSameContent } from "./change-log.ts";

/** One file of a restore. */
export type Target = {
  readonly path: string;
  /** What it shall be; null: no file. */
  readonly wanted: FileState | null | "unknown";
  /** What the session left there last: anything else is the user's. */
  readonly last: FileState | null;
  /** Somebody else changed it between two of the session's changes. */
  readonly isMixed: boolean;
  /** Folders that came into being with it, the outermost first. */
  readonly folders: readonly string[];
};

/** The changes that were made with or after the message at `position`: it had been said when they were made. */
export function changesAfter(changes: readonly FileChange[], position: number): readonly FileChange[] {
  return changes.filter((change) => change.position > position);
}

/** Files as they were before the message at `position`, in the order in which they were changed first. */
export function targetsAt(changes: readonly FileChange[], position: number): readonly Target[] {
  return targetsOf(changesAfter(changes, position));
}

/** Files as they were before a restore. */
export function targetsBefore(changes: readonly FileChange[], restore: string): readonly Target[] {
  return targetsOf(changes.filter(({ by, source }) => by === "restore" && source === restore));
}

function targetsOf(changes: readonly FileChange[]): readonly Target[] {
  const byPath = Map.groupBy(changes, ({ path }) => path);
  return [...byPath].flatMap(([path, chain]) => {
    const [first] = chain;
    const last = chain.at(-1);
    if (first === undefined || last === undefined) return [];
    const folders = [...new Set(chain.flatMap((change) => change.folders ?? []))];
    return [{ path, wanted: first.before, last: last.after, isMixed: isMixed(chain), folders }];
  });
}

/** What a change found must be what the one before it left. */
function isMixed(chain: readonly FileChange[]): boolean {
  return chain.some(({ before }, index) => {
    const previous = chain[index - 1];
    return previous !== undefined && before !== "unknown" && !isSameContent(before, previous.after);
  });
}
