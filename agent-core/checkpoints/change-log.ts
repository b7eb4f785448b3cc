/** Log of all file changes of a session, in order; stored in its journal. */
import type { EntryOf, FileChange, FileState, JournalEntry } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { GitBlob } from "./git-blobs.ts";

export type ChangeLogOptions = {
  readonly entries: readonly JournalEntry[];
  /** Position of the next message. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
};

/** A change as restores see it: a content that only git has is unknown until it is copied. */
export type LoggedChange = Omit<FileChange, "before"> & { readonly before: FileState | null | "unknown" };

/** `position`: by default that of the session's next message. */
export type NewChange = Omit<FileChange, "position"> & { readonly position?: number };

/** Write of a restore, before it is made. */
export type IntendedWrite = NonNullable<EntryOf<"restore">["files"]>[number];

/** Restore that began and never ended. `writes`: those of which the journal does not say that they were made. */
export type InterruptedRestore = {
  readonly id: string;
  readonly position: number;
  readonly writes: readonly IntendedWrite[];
};

/** `hash`: undefined when git has lost the object. `isStored`: the store has a copy. */
export type CopiedBlob = { readonly hash: string | undefined; readonly isStored: boolean };

type Limits = Pick<EntryOf<"watched-command">, "position"> & { readonly lacks: readonly string[] };

const NOT_COPIED = "its earlier content is still being copied";
const UNREADABLE = "its earlier content could not be read from git";
const INTERRUPTED_COMMAND =
  "The agent ended before it logged the changes of a command. A restore does not revert them.";

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  readonly #changes: LoggedChange[] = [];
  /** Earlier contents that only git has, by their place in `#changes`. */
  readonly #inGit = new Map<number, GitBlob & { readonly mode: number }>();
  /** Objects of git by the hash of their content. */
  readonly #blobs = new Map<string, GitBlob>();
  readonly #limits: Limits[] = [];
  readonly #restores: string[] = [];
  readonly #listeners = new Map<string, (change: FileChange) => void>();
  readonly interrupted: InterruptedRestore | undefined;

  constructor(options: ChangeLogOptions) {
    this.#options = options;
    const { entries } = options;
    const hashes = new Map<string, string>();
    for (const entry of entries) {
      if (entry.type === "file-change") this.#remember(entry);
      if (entry.type === "git-copies") for (const [id, hash] of Object.entries(entry.hashes)) hashes.set(id, hash);
    }
    this.#resolve((id) => hashes.get(id));
    this.#limits.push(...limitsIn(entries));
    const restores = entries.filter((entry) => entry.type === "restore");
    this.#restores.push(...restores.filter(({ phase }) => phase === "begin").map(({ id }) => id));
    this.interrupted = interruptedIn(restores, this.#changes);
  }

  get changes(): readonly LoggedChange[] {
    return this.#changes;
  }

  /** Position of the session's next message. */
  get position(): number {
    return this.#options.position();
  }

  /** Id of the last restore, also of one that was interrupted. */
  get lastRestore(): string | undefined {
    return this.#restores.at(-1);
  }

  /** Contents that are not copied yet. */
  get uncopied(): readonly GitBlob[] {
    return [...new Map([...this.#inGit.values()].map((blob) => [blob.git, blob])).values()];
  }

  /** Object of git with this content, for a copy that is lost. */
  blobOf(hash: string): GitBlob | undefined {
    return this.#blobs.get(hash);
  }

  /** State of the file after its last change in the log; undefined when the log has none. */
  lastState(path: string): FileState | null | undefined {
    return this.#changes.findLast((change) => change.path === path)?.after;
  }

  /** True when a restore of the message at `position` finds the file's content, whatever followed its first change. */
  isRevertible(path: string, position: number): boolean {
    const first = this.#changes.find((change) => change.path === path && change.position >= position);
    return first !== undefined && (first.lacks === undefined || first.lacks === NOT_COPIED);
  }

  /** Limits of restores to the message at `position`, one sentence each. Undefined when no command ran since. */
  limitsSince(position: number): readonly string[] | undefined {
    const since = this.#limits.filter((limit) => limit.position > position);
    return since.length === 0 ? undefined : [...new Set(since.flatMap(({ lacks }) => lacks))];
  }

  /** Calls `listener` with each change of this source from now on. */
  watch(source: string, listener: (change: FileChange) => void): void {
    this.#listeners.set(source, listener);
  }

  /** A change that is logged late gives the position at which it was made. */
  add(change: NewChange): void {
    const placed = { ...change, position: change.position ?? this.position };
    this.#remember(placed);
    this.#options.journal({ type: "file-change", ...placed });
    for (const source of [change.source, ...(change.others ?? [])]) this.#listeners.get(source)?.(placed);
  }

  /** Reports contents of git's objects, by their ids. */
  copied(contents: ReadonlyMap<string, CopiedBlob>): void {
    const stored = [...contents].flatMap(([id, { hash, isStored }]) => (isStored && hash ? [[id, hash]] : []));
    if (stored.length > 0) this.#options.journal({ type: "git-copies", hashes: Object.fromEntries(stored) });
    this.#resolve((id) => contents.get(id)?.hash);
    for (const [index, { git }] of this.#inGit) if (contents.has(git)) this.#replace(index, { lacks: UNREADABLE });
  }

  /** Logs a command. `lacks`: changes that no restore reverts, one sentence each. */
  command({ source, phase, position, lacks = [] }: Omit<EntryOf<"watched-command">, "type" | "at">): void {
    if (phase !== "begin") this.#limits.push({ position, lacks });
    this.#options.journal({ type: "watched-command", source, phase, position, ...(lacks.length > 0 && { lacks }) });
  }

  restore(id: string, phase: "begin" | "end", position: number): void {
    if (phase === "begin") this.#restores.push(id);
    this.#options.journal({ type: "restore", id, phase, position });
  }

  /** Logs the next writes of a restore. */
  intend(id: string, files: readonly IntendedWrite[]): void {
    if (files.length > 0)
      this.#options.journal({ type: "restore", id, phase: "write", files, position: this.position });
  }

  #remember(change: FileChange): void {
    const { before } = change;
    if (before !== null && typeof before === "object" && "git" in before) {
      this.#inGit.set(this.#changes.length, before);
      this.#changes.push({ ...change, before: "unknown", lacks: NOT_COPIED });
    } else {
      this.#changes.push({ ...change, before });
    }
  }

  #resolve(hashOf: (id: string) => string | undefined): void {
    for (const [index, blob] of this.#inGit) {
      const hash = hashOf(blob.git);
      if (hash === undefined) continue;
      this.#blobs.set(hash, blob);
      this.#replace(index, { before: { hash, mode: blob.mode } });
    }
  }

  #replace(index: number, known: Pick<LoggedChange, "before"> | Pick<LoggedChange, "lacks">): void {
    const change = this.#changes[index];
    if (change !== undefined) this.#changes[index] = { ...change, ...known };
    this.#inGit.delete(index);
  }
}

function limitsIn(entries: readonly JournalEntry[]): readonly Limits[] {
  const limits: Limits[] = [];
  const open: EntryOf<"watched-command">[] = [];
  for (const entry of entries) {
    if (entry.type !== "watched-command") continue;
    if (entry.phase === "begin") open.push(entry);
    else limits.push({ position: entry.position, lacks: entry.lacks ?? [] });
    const begun = entry.phase === "end" ? open.findIndex(({ source }) => source === entry.source) : -1;
    if (begun >= 0) open.splice(begun, 1);
  }
  return [...limits, ...open.map(({ position }) => ({ position, lacks: [INTERRUPTED_COMMAND] }))];
}

function interruptedIn(
  restores: readonly EntryOf<"restore">[],
  changes: readonly LoggedChange[],
): InterruptedRestore | undefined {
  const begin = restores.findLast(({ phase }) => phase === "begin");
  const own = restores.filter(({ id }) => id === begin?.id);
  if (begin === undefined || own.some(({ phase }) => phase === "end")) return undefined;
  const { id, position } = begin;
  const made = new Set(changes.filter(({ source }) => source === id).map(({ path }) => path));
  const writes = own.flatMap(({ files = [] }) => files).filter(({ path }) => !made.has(path));
  return { id, position, writes };
}

/** True when the user sees the same content; permissions and the saved version of an unsaved text do not count. */
export function isSameContent(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return isNothing(one) && isNothing(other);
  return (one.unsaved ?? one.hash) === (other.unsaved ?? other.hash) && one.link === other.link;
}

/** True without a file and without an unsaved text. */
export function isNothing(state: FileState | null): boolean {
  return state === null || (state.hash === null && state.unsaved === undefined);
}
