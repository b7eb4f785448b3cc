/** Every change of a file that the session made, in order: read from its journal, and added to it. */
import type { FileChange, FileState, JournalEntry } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";

export type ChangeLogOptions = {
  /** What the session's journal holds already. */
  readonly entries: readonly JournalEntry[];
  /** Position that the next message will have. */
  readonly position: () => number;
  readonly journal: (entry: NewEntry) => void;
};

export class ChangeLog {
  readonly #options: ChangeLogOptions;
  readonly #changes: FileChange[];
  readonly #finished: string[] = [];
  /** The last restore began and never ended. */
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

  /** Position that the session's next message will have. */
  get position(): number {
    return this.#options.position();
  }

  /** The restore that ended last. */
  get lastRestore(): string | undefined {
    return this.#finished.at(-1);
  }

  add(change: Omit<FileChange, "position">): void {
    const placed = { ...change, position: this.position };
    this.#changes.push(placed);
    this.#options.journal({ type: "file-change", ...placed });
  }

  /** Notes that a restore begins, or has come to its end. */
  restore(id: string, phase: "begin" | "end", position: number): void {
    if (phase === "end") this.#finished.push(id);
    this.#options.journal({ type: "restore", id, phase, position });
  }
}

/** Whether both show the same to the user; permissions and what is saved of a text do not count. */
export function isSameContent(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return isNothing(one) && isNothing(other);
  return (one.unsaved ?? one.hash) === (other.unsaved ?? other.hash) && one.link === other.link;
}

/** No file, and no text of one. */
export function isNothing(state: FileState | null): boolean {
  return state === null || (state.hash === null && state.unsaved === undefined);
}
