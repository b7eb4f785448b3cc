/** Memory across sessions: two small files that the user can read and change. */
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../config/home-file.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { withLock } from "../platform/locks/with-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import {
  changedEntry,
  MemoryLedger,
  type MemoryOrigin,
  type MemoryTarget,
  type MemoryWrite,
  undoable,
  undoEntry,
  writeOf,
} from "./ledger.ts";
import {
  type ChangedNotes,
  changeNotes,
  formatNotes,
  type NoteChange,
  type Notes,
  notesLength,
  parseNotes,
} from "./notes.ts";

/** Same as the defaults in config/sections.ts: about 800 tokens of every prompt. Characters. */
export const MEMORY_LIMITS: Readonly<Record<MemoryTarget, number>> = { memory: 2_200, user: 1_375 };

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: "MEMORY.md", user: "USER.md" };
const ARCHIVE = "ARCHIVE.jsonl";
const LEDGER = "LEDGER.jsonl";

export type MemoryOptions = {
  /** Absolute path; the folder may not exist yet. */
  readonly folder: string;
  /** Characters. */
  readonly limits?: Readonly<Record<MemoryTarget, number>>;
  /** Milliseconds since 1970; default: the system's clock. */
  readonly now?: () => number;
};

export type MemoryPreview =
  /** `oldText` is null without entries. */
  | { readonly ok: true; readonly path: string; readonly oldText: string | null; readonly newText: string }
  | { readonly ok: false; readonly message: string };

/** An entry with the write that it comes from; undefined for one that another program or the user wrote. */
export type MemoryEntry = { readonly text: string; readonly write: MemoryWrite | undefined };

/** Outcome of an undo, in one line for the user. */
export type MemoryUndo = { readonly ok: boolean; readonly message: string };

export class Memory {
  readonly #folder: string;
  readonly #ledger: MemoryLedger;
  readonly #limits: Readonly<Record<MemoryTarget, number>>;
  readonly #now: () => number;

  constructor({ folder, limits = MEMORY_LIMITS, now = Date.now }: MemoryOptions) {
    this.#folder = folder;
    this.#ledger = new MemoryLedger(join(folder, LEDGER), now);
    this.#now = now;
    this.#limits = limits;
  }

  limit(target: MemoryTarget): number {
    return this.#limits[target];
  }

  /** Current entries of the file, oldest first; none for a missing file. Rejects when reading fails. */
  async read(target: MemoryTarget): Promise<Notes> {
    try {
      return parseNotes(await readFile(this.path(target), "utf8"));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** Text of the file before and after a change. Rejects when reading fails. */
  async preview(target: MemoryTarget, change: NoteChange): Promise<MemoryPreview> {
    const notes = await this.read(target);
    const changed = changeNotes(notes, change, this.#limits[target]);
    if (!changed.ok) return changed;
    const oldText = notes.length === 0 ? null : formatNotes(notes);
    return { ok: true, path: this.path(target), oldText, newText: formatNotes(changed.notes) };
  }

  /**
   * Changes the file's current entries, also those of other processes. A change with an origin can be undone. Rejects when
   * writing fails.
   */
  async change(target: MemoryTarget, change: NoteChange, origin?: MemoryOrigin): Promise<ChangedNotes> {
    return this.#write(target, async (notes) => {
      const changed = changeNotes(notes, change, this.#limits[target]);
      if (!changed.ok) return changed;
      await this.#archive(target, changed.evicted);
      const record = { target, ...changedEntry(notes, changed.notes, changed.evicted) };
      return { ...changed, ...(origin && { record: { ...record, ...origin } }) };
    });
  }

  /** Absolute path of the file, which may not exist yet. */
  path(target: MemoryTarget): string {
    return join(this.#folder, FILES[target]);
  }

  /** Entries of the file with their origins, oldest first. Rejects when reading fails. */
  async entries(target: MemoryTarget): Promise<readonly MemoryEntry[]> {
    const [notes, writes] = await Promise.all([this.read(target), this.#ledger.read()]);
    return notes.map((text) => ({ text, write: writeOf(writes, target, text) }));
  }

  /** Writes that can be undone, oldest first. Rejects when reading fails. */
  async writes(): Promise<readonly MemoryWrite[]> {
    return undoable(await this.#ledger.read());
  }

  /** Undoes writes, the last one first. An entry that was changed since then stays as it is. */
  async undo(writes: readonly MemoryWrite[]): Promise<MemoryUndo> {
    if (writes.length === 0) return { ok: false, message: "There is no such change of the memory, or it is undone." };
    const lines: string[] = [];
    let ok = true;
    for (const write of writes.toReversed()) {
      const undone = await this.#undo(write);
      ok &&= undone.ok;
      lines.push(
        undone.ok ? undoneText(write) : `Not undone: ${undone.message} (${write.after ?? write.before ?? ""}).`,
      );
    }
    return { ok, message: lines.join(" ") };
  }

  #undo(write: MemoryWrite): Promise<ChangedNotes> {
    const { id, target, sessionId, callId, before, after, index } = write;
    return this.#write(target, async (notes) => {
      const changed = undoEntry(notes, write, this.#limits[target]);
      if (!changed.ok) return changed;
      const origin = { by: "undo" as const, sessionId, callId };
      const entry = { before: after, after: before, index, evicted: [] };
      return { ...changed, record: { target, ...entry, ...origin, undoes: id } };
    });
  }

  /** Writes the notes that `change` makes of the current ones, and its record. One process does so at a time. */
  async #write(
    target: MemoryTarget,
    change: (notes: Notes) => Promise<ChangedNotes & { readonly record?: Omit<MemoryWrite, "id" | "at"> }>,
  ): Promise<ChangedNotes> {
    const path = this.path(target);
    makeFolder(dirname(path), 0o700);
    return withLock(`${path}.lock`, async () => {
      const changed = await change(await this.read(target));
      if (!changed.ok) return changed;
      await replaceFile(path, formatNotes(changed.notes));
      // Without its record the entry is saved all the same, and only cannot be undone.
      if (changed.record !== undefined) await this.#ledger.append(changed.record).catch(() => undefined);
      return changed;
    });
  }

  /** Appends evicted entries to the archive, so that none is lost. */
  async #archive(target: MemoryTarget, evicted: Notes): Promise<void> {
    if (evicted.length === 0) return;
    const at = new Date(this.#now()).toISOString();
    const lines = evicted.map((content) => `${JSON.stringify({ at, target, content })}\n`).join("");
    const archive = await open(join(this.#folder, ARCHIVE), "a", 0o600);
    try {
      await archive.appendFile(lines);
    } finally {
      await archive.close();
    }
  }
}

function undoneText({ before, after }: MemoryWrite): string {
  return before === null ? `Removed from the memory: ${after ?? ""}.` : `Restored in the memory: ${before}.`;
}

/** Memory as text for a session's prompt, frozen at the session's start. */
export type MemorySnapshot = { readonly [Target in MemoryTarget]: string | undefined };

/** First words of the memory in a prompt. */
export const MEMORY_HEADS: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your notes from earlier sessions)",
  user: "USER (what you know of the user)",
};

export type SnapshotOptions = {
  /** Gives the reason why an entry must not reach the model. */
  readonly isBad: (text: string) => string | undefined;
  /** Called with a line about an unreadable file; the prompt says that entries are missing. */
  readonly onDefect: (message: string) => void;
};

/** Texts of both files; undefined for one without entries. */
export async function memorySnapshot(memory: Memory, options: SnapshotOptions): Promise<MemorySnapshot> {
  const [notes, user] = await Promise.all([shown(memory, "memory", options), shown(memory, "user", options)]);
  return { memory: notes, user };
}

async function shown(
  memory: Memory,
  target: MemoryTarget,
  { isBad, onDefect }: SnapshotOptions,
): Promise<string | undefined> {
  let notes: Notes;
  try {
    notes = await memory.read(target);
  } catch (error) {
    onDefect(`The memory cannot be read: ${messageOf(error)}`);
    return `${MEMORY_HEADS[target]} [cannot be read at the moment: do not take it for empty]`;
  }
  if (notes.length === 0) return undefined;
  const used = notesLength(notes);
  const limit = memory.limit(target);
  const safe = notes.map((note) => {
    const threat = isBad(note);
    return threat === undefined ? note : `[an entry was left out: it holds ${threat}]`;
  });
  const head = `${MEMORY_HEADS[target]} [${Math.round((used / limit) * 100)} % — ${used}/${limit} characters]`;
  return `${head}\n${formatNotes(safe).trimEnd()}`;
}
