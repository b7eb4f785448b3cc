/** Results of reading folders and files, which hold until entries come or go, or the file changes. */
import { statOf } from "./paths.ts";

/** Two changes within this time may leave the same time of change. */
const CLOCK_TICK_MS = 50;
const MAX_FOLDERS = 250_000;

/** Times in milliseconds. */
type Known<Result> = {
  readonly result: Result;
  readonly ino: number;
  readonly changedAt: number;
  readonly readAt: number;
};

export class FolderCache<Result> {
  readonly #known = new Map<string, Known<Result>>();

  /** Result for the folder or file (absolute, no link) as it is now; `read` makes it. */
  get(folder: string, read: () => Result): Result {
    // The time of change cannot be forged, unlike that of modification.
    const { ctimeMs: changedAt = 0, ino = 0 } = statOf(folder) ?? {};
    const known = this.#known.get(folder);
    if (known?.changedAt === changedAt && known.ino === ino && known.readAt - changedAt > CLOCK_TICK_MS)
      return known.result;
    const readAt = Date.now();
    const result = read();
    if (this.#known.size >= MAX_FOLDERS) this.#known.clear();
    this.#known.set(folder, { result, ino, changedAt, readAt });
    return result;
  }
}
