/** What a restore would do to one file, as things stand: its change, or why the file is left alone. */
import { diffLines } from "diff";
import type { HostFiles } from "../host/host.ts";
import type { FileState } from "../sessions/entry.ts";
import { isNothing, isSameContent } from "./change-log.ts";
import { textOf } from "./look.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Target } from "./restore-plan.ts";
import { type ShownFile, showFile } from "./shown-file.ts";

/** Comparing two large, different texts can take for ever: beyond this, a fifth of a second, lines are not counted. */
const MAX_CHANGED_LINES = 1_300;

/** Content that a file shall have. */
export type Wanted =
  | { readonly kind: "nothing" }
  | {
      readonly kind: "content";
      readonly state: FileState;
      /** Of the disk (of a link: its target). */
      readonly bytes: Buffer;
      /** What the user shall read; undefined when it is no text. */
      readonly text: string | undefined;
    };

export type PlannedFile = {
  readonly path: string;
  readonly change: "restore" | "remove" | "recreate";
  /** Lines; undefined when they were not counted. */
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

/** Undefined when the file is as it shall be already. */
export async function planFile(
  target: Target,
  files: HostFiles,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<PlannedFile | undefined> {
  const { path, folders } = target;
  const present = await showFile(files, path, signal);
  const { state } = present;
  const change = changeOf(target, state ?? null);
  const left = (leftAlone: string): PlannedFile => ({ path, change, added: undefined, removed: undefined, leftAlone });
  if (state === undefined) return left("something that is no file stands there now");
  if (isDone(target, state)) return undefined;
  if (target.wanted === "unknown") return left("a command changed it before there was a copy of it");
  if (!isSameContent(state, target.last)) return left("you changed it since");
  if (target.isMixed) return left("you changed it between the agent's changes");
  const wanted = await wantedOf(target.wanted, store);
  if (wanted === undefined) return left("the copy of what it held is gone");
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

/** Undefined when a part of it is not kept any more. */
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
