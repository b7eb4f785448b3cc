/** Plan of a restore: target state of each file by the journal, and the change that leads there from the present file. */

import { diffLines } from "diff";
import type { HostFiles } from "../host/host.ts";
import type { FileChange, FileState } from "../sessions/entry.ts";
import { isNothing, isSameContent } from "./change-log.ts";
import { readShownFile, type ShownFile, textOf } from "./disk-state.ts";
import type { ObjectStore } from "./object-store.ts";

/** Changed lines that are counted; more take longer than a fifth of a second. */
const MAX_CHANGED_LINES = 1_300;

/** One file of a restore. */
export type Target = {
  readonly path: string;
  /** State to restore; null: no file. */
  readonly wanted: FileState | null | "unknown";
  /** State after the session's last change; any other state is the user's. */
  readonly last: FileState | null;
  /** True when another program or the user changed the file between two changes of the session. */
  readonly isMixed: boolean;
  /** Folders that were created with the file, the outermost first. */
  readonly folders: readonly string[];
};

/** Changes that were made in answer to the message at `position`, or later. */
export function changesAfter(changes: readonly FileChange[], position: number): readonly FileChange[] {
  return changes.filter((change) => change.position > position);
}

/** Targets of a restore to the state before the message at `position`, in the order of the first changes. */
export function targetsAt(changes: readonly FileChange[], position: number): readonly Target[] {
  return targetsOf(changesAfter(changes, position));
}

/** Targets of undoing a restore. */
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

/** True when a change did not start from the state after the previous one. */
function isMixed(chain: readonly FileChange[]): boolean {
  return chain.some(({ before }, index) => {
    const previous = chain[index - 1];
    return previous !== undefined && before !== "unknown" && !isSameContent(before, previous.after);
  });
}

/** Content to restore. */
export type Wanted =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "content";
      readonly state: FileState;
      /** Content on the disk; for a link, its target. */
      readonly bytes: Buffer;
      /** Text for the user; undefined for a binary file. */
      readonly text: string | undefined;
    };

export type PlannedFile = {
  readonly path: string;
  readonly change: "restore" | "remove" | "recreate";
  /** Number of lines; undefined when they were not counted. */
  readonly added: number | undefined;
  readonly removed: number | undefined;
} & (
  | { readonly leftAlone: string }
  | {
      readonly leftAlone: undefined;
      readonly present: ShownFile;
      readonly wanted: Wanted;
      readonly folders: readonly string[];
    }
);

/** Change of one file, or the reason why it is left alone. Undefined for a file in its target state. */
export async function planFile(
  target: Target,
  files: HostFiles,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<PlannedFile | undefined> {
  const { path, folders } = target;
  const present = await readShownFile(files, path, signal);
  const { state } = present;
  const change = changeOf(target, state ?? null);
  const left = (leftAlone: string): PlannedFile => ({ path, change, added: undefined, removed: undefined, leftAlone });
  if (state === undefined) return left("the path is no longer a file");
  if (isDone(target, state)) return undefined;
  if (target.wanted === "unknown") return left("a command changed it before it was copied");
  if (!isSameContent(state, target.last)) return left("you changed it since");
  if (target.isMixed) return left("you changed it between the agent's changes");
  const wanted = await wantedOf(target.wanted, store);
  if (wanted === undefined) return left("the copy of its earlier content is gone");
  return { path, change, ...linesBetween(present.text, wanted), leftAlone: undefined, present, wanted, folders };
}

function changeOf({ wanted }: Target, present: FileState | null): PlannedFile["change"] {
  if (wanted !== "unknown" && isNothing(wanted)) return "remove";
  return isNothing(present) ? "recreate" : "restore";
}

function isDone({ wanted }: Target, present: FileState | null): boolean {
  if (wanted === "unknown" || !isSameContent(wanted, present)) return false;
  return wanted === null || present === null || present.hash === null || wanted.mode === present.mode;
}

/** Undefined when the store has lost a part of the content. */
async function wantedOf(state: FileState | null, store: ObjectStore): Promise<Wanted | undefined> {
  if (state === null) return { kind: "nothing" };
  const bytes = state.hash === null ? Buffer.alloc(0) : await store.get(state.hash);
  if (bytes === undefined) return undefined;
  if (state.unsaved === undefined)
    return { kind: "content", state, bytes, text: state.link ? undefined : textOf(bytes) };
  const unsaved = await store.get(state.unsaved);
  return unsaved && { kind: "content", state, bytes, text: unsaved.toString() };
}

function linesBetween(present: string | null | undefined, wanted: Wanted): Pick<PlannedFile, "added" | "removed"> {
  const none = { added: undefined, removed: undefined };
  const text = wanted.kind === "nothing" ? "" : wanted.text;
  if (present === undefined || text === undefined) return none;
  const changes = diffLines(present ?? "", text, { maxEditLength: MAX_CHANGED_LINES });
  if (changes === undefined) return none;
  const count = (kind: "added" | "removed"): number =>
    changes.reduce((sum, change) => sum + (change[kind] ? change.count : 0), 0);
  return { added: count("added"), removed: count("removed") };
}
