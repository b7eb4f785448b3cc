/** Targets of a restore: the state of each file by the journal. */
import type { FileState } from "../sessions/entry.ts";
import type { LoggedChange } from "./change-log.ts";

/** One file of a restore. */
export type Target = {
  readonly path: string;
  /** State to restore; null: no file. */
  readonly wanted: FileState | null | "unknown";
  /** Reason why it is unknown. */
  readonly lacks: string;
  /** State after the session's last change; any other state is the user's. */
  readonly last: FileState | null;
  /** Changes of the session, in order. */
  readonly chain: readonly LoggedChange[];
  /** Folders that were created with the file, the outermost first. */
  readonly folders: readonly string[];
};

/** Changes that were made in answer to the message at `position`, or later. */
export function changesAfter(changes: readonly LoggedChange[], position: number): readonly LoggedChange[] {
  return changes.filter((change) => change.position > position);
}

/** Targets of a restore to the state before the message at `position`, in the order of the first changes. */
export function targetsAt(changes: readonly LoggedChange[], position: number): readonly Target[] {
  return targetsOf(changesAfter(changes, position));
}

export function targetsBefore(changes: readonly LoggedChange[], restore: string): readonly Target[] {
  return targetsOf(changes.filter(({ by, source }) => by === "restore" && source === restore));
}

/** Targets of undoing the edits of a tool call. */
export function targetsOfCall(changes: readonly LoggedChange[], callId: string): readonly Target[] {
  return targetsOf(changes.filter(({ by, source }) => by === "edit" && source === callId));
}

/** Of a journal that names no reason. */
const NOT_COPIED = "a command changed it before it was copied";

function targetsOf(changes: readonly LoggedChange[]): readonly Target[] {
  const byPath = Map.groupBy(changes, ({ path }) => path);
  return [...byPath].flatMap(([path, chain]) => {
    const [first] = chain;
    const last = chain.at(-1);
    if (first === undefined || last === undefined) return [];
    const folders = [...new Set(chain.flatMap((change) => change.folders ?? []))];
    return [{ path, wanted: first.before, lacks: first.lacks ?? NOT_COPIED, last: last.after, chain, folders }];
  });
}
