/** The journals in a folder, as every question of the index needs them, without a look at each of a thousand files. */
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isSessionId } from "../session-id.ts";

const EXTENSION = ".jsonl";
/** Beside the journal while a session is open anywhere. */
const LOCK_EXTENSION = ".jsonl.lock";
/** A folder's time of change is at most so coarse (that of FAT): what follows within it may not show. Milliseconds. */
const COARSEST_TIME_MS = 2_000;
/** Each file is looked at again after this: somebody may have written into one by hand. Milliseconds. */
const TRUSTED_MS = 10_000;

export type JournalFile = {
  /** Absolute. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** In milliseconds since 1970. */
  readonly writtenAt: number;
};

/**
 * Whoever writes a journal holds its lock, a file beside it: while the folder itself has not changed, no journal but those
 * that were locked then can have. Synchronous: its thread has nobody to keep waiting, and it is ten times quicker.
 */
export class JournalFolder {
  readonly #path: string;
  #files = new Map<string, JournalFile>();
  #locked: readonly string[] = [];
  /** Of the folder, in nanoseconds; undefined while a further change could bear the same time. */
  #changedAt: bigint | undefined;
  #lookedAt = 0;

  /** `path`: absolute; it need not exist yet. */
  constructor(path: string) {
    this.#path = path;
  }

  /** All journals, by session, as they are now. Throws the system's error when the folder cannot be read. */
  files(): ReadonlyMap<string, JournalFile> {
    const changedAt = statSync(this.#path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    const isTrusted = Math.abs(Date.now() - this.#lookedAt) < TRUSTED_MS;
    if (isTrusted && changedAt !== undefined && changedAt === this.#changedAt)
      for (const id of this.#locked) this.#look(id);
    else this.#lookAtAll(changedAt);
    return this.#files;
  }

  #lookAtAll(changedAt: bigint | undefined): void {
    this.#files = new Map();
    this.#lookedAt = Date.now();
    this.#changedAt = changedAt !== undefined && isSettled(changedAt, this.#lookedAt) ? changedAt : undefined;
    const names = changedAt === undefined ? [] : readdirSync(this.#path); // none: no session yet
    for (const name of names) if (name.endsWith(EXTENSION)) this.#look(basename(name, EXTENSION));
    this.#locked = names.filter((name) => name.endsWith(LOCK_EXTENSION)).map((name) => basename(name, LOCK_EXTENSION));
  }

  #look(id: string): void {
    if (!isSessionId(id)) return;
    const path = join(this.#path, `${id}${EXTENSION}`);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      this.#files.delete(id); // deleted meanwhile, or not begun yet
    else this.#files.set(id, { path, size: found.size, writtenAt: found.mtimeMs });
  }
}

function isSettled(changedAt: bigint, now: number): boolean {
  return now - Number(changedAt / 1_000_000n) > COARSEST_TIME_MS;
}
