/** What the agent remembers from session to session: two small files that the user can read and change. */
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../config/replace-file.ts";
import { hasCode } from "../platform/errors.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { type ChangedNotes, changeNotes, formatNotes, type NoteChange, type Notes, parseNotes } from "./notes.ts";

/** `memory`: notes about the work. `user`: who the user is and what they like. */
export type MemoryTarget = "memory" | "user";

/** behaviour.md §Tools; characters. */
export const MEMORY_LIMITS: Readonly<Record<MemoryTarget, number>> = { memory: 2_200, user: 1_375 };

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: "MEMORY.md", user: "USER.md" };
const ARCHIVE = "ARCHIVE.jsonl";

export type MemoryOptions = {
  /** Absolute; may not exist yet. */
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

  /** The entries as they are in the file now, the oldest first; none when there is no file. Rejects when it cannot be read. */
  async read(target: MemoryTarget): Promise<Notes> {
    try {
      return parseNotes(await readFile(this.#path(target), "utf8"));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Changes the entries that the file has at this moment, whoever wrote them. Rejects when it cannot be written. */
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

  /** What there was no room for is not lost. */
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

function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}
