/** Log of all file changes of a session, in order; stored in its journal. */
import type { FileChange, FileState, JournalEntry } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";

export type ChangeLogOptions = {
  /** Entries of the session's journal. */
  readonly entries: readonly JournalEntry[];
  /** Position of the next message. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
};

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  readonly #changes: FileChange[];
  readonly #finished: string[] = [];
  readonly #listeners = new Map<string, (change: FileChange) => void>();
  /** Restore that began and never ended. */
  readonly interrupted: { readonly position: number } | undefined;

  constructor(options: ChangeLogOptions) {
    this.#options = options;
    const { entries } = options;
    this.#changes = entries.filter((entry) => entry.type === "file-change");
    const restores = entries.filter((entry) => entry.type === "restore");
    this.#finished.push(...restores.filter(({ phase }) => phase === "end").map(({ id }) => id));
    const last = restores.at(-1);
    this.interrupted = last?.phase === "begin" ? { position: last.position } : undefined;
  }

  get changes(): readonly FileChange[] {
    return this.#changes;
  }

  /** Position of the session's next message. */
  get position(): number {
    return this.#options.position();
  }

  /** Id of the last finished restore. */
  get lastRestore(): string | undefined {
    return this.#finished.at(-1);
  }

  /** State of the file after its last change in the log; undefined when the log has none. */
  lastState(path: string): FileState | null | undefined {
    return this.#changes.findLast((change) => change.path === path)?.after;
  }

  /** Calls `listener` with each change of this source from now on. */
  watch(source: string, listener: (change: FileChange) => void): void {
    this.#listeners.set(source, listener);
  }

  /** `position`: default the session's next message; a change that is logged late gives the one at which it was made. */
  add(change: Omit<FileChange, "position"> & { readonly position?: number }): void {
    const placed = { ...change, position: change.position ?? this.position };
    this.#changes.push(placed);
    this.#options.journal({ type: "file-change", ...placed });
    for (const source of [change.source, ...(change.others ?? [])]) this.#listeners.get(source)?.(placed);
  }

  /** Logs the begin or the end of a restore. */
  restore(id: string, phase: "begin" | "end", position: number): void {
    if (phase === "end") this.#finished.push(id);
    this.#options.journal({ type: "restore", id, phase, position });
  }
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
