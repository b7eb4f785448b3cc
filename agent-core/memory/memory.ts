/** Memory across sessions: two small files that the user can read and change. */
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../config/home-file.ts";
import { hasCode } from "../platform/errors.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { type ChangedNotes, changeNotes, formatNotes, type NoteChange, type Notes, parseNotes } from "./notes.ts";

/** `memory`: notes about the work. `user`: facts about the user, and preferences. */
export type MemoryTarget = "memory" | "user";

/** Same as the defaults in config/sections.ts: about 800 tokens of every prompt. Characters. */
export const MEMORY_LIMITS: Readonly<Record<MemoryTarget, number>> = { memory: 2_200, user: 1_375 };

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: "MEMORY.md", user: "USER.md" };
const ARCHIVE = "ARCHIVE.jsonl";

export type MemoryOptions = {
  /** Absolute path; the folder may not exist yet. */
  readonly folder: string;
  /** Characters. */
  readonly limits?: Readonly<Record<MemoryTarget, number>>;
};

export class Memory {
  readonly #folder: string;
  readonly #limits: Readonly<Record<MemoryTarget, number>>;

  constructor({ folder, limits = MEMORY_LIMITS }: MemoryOptions) {
    this.#folder = folder;
    this.#limits = limits;
  }

  limit(target: MemoryTarget): number {
    return this.#limits[target];
  }

  /** Current entries of the file, oldest first; none for a missing file. Rejects when reading fails. */
  async read(target: MemoryTarget): Promise<Notes> {
    try {
      return parseNotes(await readFile(this.#path(target), "utf8"));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** Changes the file's current entries, also those of other processes. Rejects when writing fails. */
  async change(target: MemoryTarget, change: NoteChange): Promise<ChangedNotes> {
    const path = this.#path(target);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return withLock(`${path}.lock`, async () => {
      const changed = changeNotes(await this.read(target), change, this.#limits[target]);
      if (!changed.ok) return changed;
      await this.#archive(target, changed.evicted);
      await replaceFile(path, formatNotes(changed.notes));
      return changed;
    });
  }

  /** Appends evicted entries to the archive, so that none is lost. */
  async #archive(target: MemoryTarget, evicted: Notes): Promise<void> {
    if (evicted.length === 0) return;
    const at = new Date().toISOString();
    const lines = evicted.map((content) => `${JSON.stringify({ at, target, content })}\n`).join("");
    const archive = await open(join(this.#folder, ARCHIVE), "a", 0o600);
    try {
      await archive.appendFile(lines);
    } finally {
      await archive.close();
    }
  }

  #path(target: MemoryTarget): string {
    return join(this.#folder, FILES[target]);
  }
}
