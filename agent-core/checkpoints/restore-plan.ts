/** Plan of a restore: the change that leads each file from its present state to its target. */
import { diffArrays } from "diff";
import type { HostFiles } from "../host/host.ts";
import { type Hunk, hunksBetween, MAX_CHANGED_LINES, splitLines } from "../platform/hunks.ts";
import type { FileState } from "../sessions/entry.ts";
import { isNothing, isSameContent, type LoggedChange } from "./change-log.ts";
import { readShownFile, type ShownFile, textOf } from "./disk-state.ts";
import type { Target } from "./restore-targets.ts";

/** Time for the counts of all files of a plan. Milliseconds. */
const COUNT_TIME_MS = 500;

/** True when a change did not start from the state after the previous one. */
function isMixed(chain: readonly LoggedChange[]): boolean {
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
      /** True when the text keeps lines of the user, so that `bytes` is not on the disk afterwards. */
      readonly isMerged?: boolean;
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

/** One file of a preview; the result of its restore has the same fields. `leftAlone`: reason why the file does not change. */
export type ShownPlan = Pick<PlannedFile, "path" | "change" | "added" | "removed"> & {
  readonly leftAlone: string | undefined;
  /** Text that a restore would give; null: no file; undefined: it is not text, or was not asked for. */
  readonly text?: string | null | undefined;
};

/** A plan without the file's content. */
export function shownPlan({ path, change, added, removed, ...plan }: PlannedFile, withText: boolean): ShownPlan {
  const shown = { path, change, added, removed, leftAlone: plan.leftAlone };
  if (!withText || plan.leftAlone !== undefined) return shown;
  return { ...shown, text: plan.wanted.kind === "nothing" ? null : plan.wanted.text };
}

export type PlanPorts = {
  readonly files: HostFiles;
  /** Earlier contents by their SHA-256. */
  readonly contents: Contents;
  readonly counter: LineCounter;
};

export type Contents = { readonly get: (hash: string) => Promise<Buffer | undefined> };

/** Change of one file, or the reason why it is left alone. Undefined for a file in its target state. */
export async function planFile(
  target: Target,
  { files, contents, counter }: PlanPorts,
  signal: AbortSignal,
): Promise<PlannedFile | undefined> {
  const { path, folders } = target;
  const present = await readShownFile(files, path, signal);
  const { state } = present;
  const change = changeOf(target, state ?? null);
  const left = (leftAlone: string): PlannedFile => ({ path, change, added: undefined, removed: undefined, leftAlone });
  if (state === undefined) return left("the path is no longer a file");
  if (isDone(target, state)) return undefined;
  if (target.wanted === "unknown") return left(target.lacks);
  const wanted = await wantedOf(target.wanted, contents);
  if (wanted === undefined) return left("the copy of its earlier content is gone");
  const isChangedSince = !isSameContent(state, target.last);
  if (isChangedSince || isMixed(target.chain)) {
    const merged = await mergeWith(present.text, wanted, target.chain, contents);
    if (merged === undefined) {
      if (!isChangedSince) return left("you changed it between the agent's changes");
      return left(state === null ? "you deleted or renamed it since" : "you changed it since");
    }
    return {
      path,
      change,
      ...counter.count(present.text, merged),
      leftAlone: undefined,
      present,
      wanted: merged,
      folders,
    };
  }
  return { path, change, ...counter.count(present.text, wanted), leftAlone: undefined, present, wanted, folders };
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
async function wantedOf(state: FileState | null, contents: Contents): Promise<Wanted | undefined> {
  if (state === null) return { kind: "nothing" };
  const bytes = state.hash === null ? Buffer.alloc(0) : await contents.get(state.hash);
  if (bytes === undefined) return undefined;
  if (state.unsaved === undefined)
    return { kind: "content", state, bytes, text: state.link ? undefined : textOf(bytes) };
  const unsaved = await contents.get(state.unsaved);
  return unsaved && { kind: "content", state, bytes, text: unsaved.toString() };
}

/**
 * Content to restore with the user's own lines: each change is reverted in the present text. Undefined when one of them
 * touches lines of the user, or its texts are not stored.
 */
async function mergeWith(
  present: string | null | undefined,
  wanted: Wanted,
  chain: readonly LoggedChange[],
  contents: Contents,
): Promise<Wanted | undefined> {
  if (wanted.kind === "nothing" || wanted.text === undefined || typeof present !== "string") return undefined;
  let text = present;
  for (const { before, after } of chain.toReversed()) {
    const [base, earlier] = await Promise.all([storedText(after, contents), storedText(before, contents)]);
    const merged = base === undefined || earlier === undefined ? undefined : mergeLines(base, text, earlier);
    if (merged === undefined) return undefined;
    text = merged;
  }
  return { ...wanted, text, isMerged: true };
}

async function storedText(state: LoggedChange["before"], contents: Contents): Promise<string | undefined> {
  if (state === null || state === "unknown" || state.link) return undefined;
  const bytes = await contents.get(state.unsaved ?? state.hash ?? "");
  return bytes && textOf(bytes);
}

/** `base` with the changes of both texts. Undefined when they touch. */
function mergeLines(base: string, one: string, other: string): string | undefined {
  const [ones, others] = [hunksBetween(base, one), hunksBetween(base, other)];
  if (ones.some((mine) => others.some((theirs) => isBeside(mine, theirs) && isBeside(theirs, mine)))) return undefined;
  return [...ones, ...others]
    .toSorted((first, second) => second.oldStart - first.oldStart)
    .reduce((lines, { oldStart, oldLines, newLines }) => {
      return [...lines.slice(0, oldStart), ...newLines, ...lines.slice(oldStart + oldLines.length)];
    }, splitLines(base))
    .join("");
}

function isBeside({ oldStart }: Hunk, other: Hunk): boolean {
  return oldStart <= other.oldStart + other.oldLines.length;
}

/** Counts the changed lines of a plan's files, until they take too long. */
export class LineCounter {
  #spentMs = 0;

  count(present: string | null | undefined, wanted: Wanted): Pick<PlannedFile, "added" | "removed"> {
    const none = { added: undefined, removed: undefined };
    const text = wanted.kind === "nothing" ? "" : wanted.text;
    if (present === undefined || text === undefined || this.#spentMs > COUNT_TIME_MS) return none;
    const start = performance.now();
    const counted = changedLines(splitLines(present ?? ""), splitLines(text));
    this.#spentMs += performance.now() - start;
    return counted ?? none;
  }
}

/** Lines that only one of the texts has are changed in any comparison, so only the others are compared. */
function changedLines(
  old: readonly string[],
  fresh: readonly string[],
): Pick<PlannedFile, "added" | "removed"> | undefined {
  const [oldLines, freshLines] = [new Set(old), new Set(fresh)];
  const [oldShared, freshShared] = [
    old.filter((line) => freshLines.has(line)),
    fresh.filter((line) => oldLines.has(line)),
  ];
  const changes = diffArrays(oldShared, freshShared, { maxEditLength: MAX_CHANGED_LINES });
  if (changes === undefined) return undefined;
  const same = changes.reduce((sum, { added, removed, count }) => sum + (added || removed ? 0 : count), 0);
  return { added: fresh.length - same, removed: old.length - same };
}
