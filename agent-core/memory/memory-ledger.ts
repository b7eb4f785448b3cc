/**
 * Ledger of the memory: the writer and the time of each write, and the texts before and after it for an undo. The memory's
 * own files keep a format that people and other programs write too.
 */
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { appendLines, readJsonLines, replaceFile } from "../config/home-file.ts";
import { type ChangedNotes, MEMORY_TARGETS, type Notes, notesLength } from "./notes.ts";

/** `memory`: notes about the work. `project`: those that hold in one project. `user`: facts about the user, and preferences. */
export type MemoryTarget = "memory" | "project" | "user";

/**
 * `agent`: a call in a turn. `flush`: before a compression. `review`: after a turn. `learning`: a fact of an ended session
 * replaced the entry. `user`: the user, by a command or on a page. `undo`: an undo of the user.
 */
const WRITERS = ["agent", "flush", "review", "learning", "user", "undo"] as const;
export type MemoryWriter = (typeof WRITERS)[number];

export type MemoryOrigin = { readonly by: MemoryWriter; readonly sessionId: string; readonly callId: string };

const recordSchema = z.object({
  id: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  target: z.enum(MEMORY_TARGETS),
  /** Folder of the project's notes, by name. */
  project: z.string().exactOptional(),
  by: z.enum(WRITERS),
  sessionId: z.string(),
  callId: z.string(),
  /** Text of the entry; null: no entry. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Place of the entry in the file, from 0. */
  index: z.number(),
  /** Older entries that made room. */
  evicted: z.array(z.string()),
  /** Id of the write that this one undoes. */
  undoes: z.string().exactOptional(),
});
export type MemoryWrite = z.infer<typeof recordSchema>;

/** The entry that a change wrote or removed. */
export type ChangedEntry = Pick<MemoryWrite, "before" | "after" | "index" | "evicted">;

/** The one entry that differs between the notes before and after a change. */
export function changedEntry(before: Notes, after: Notes, evicted: Notes): ChangedEntry {
  const kept = before.filter((note) => !evicted.includes(note));
  const different = after.findIndex((note, at) => note !== kept[at]);
  const index = different < 0 ? after.length : different;
  return {
    before: after.length > kept.length ? null : (kept[index] ?? null),
    after: after.length < kept.length ? null : (after[index] ?? null),
    index,
    evicted: [...evicted],
  };
}

/** The notes without a change. Refuses when the entry was changed since. `limit`: see `changeNotes`. */
export function undoEntry(notes: Notes, { before, after, index, evicted }: ChangedEntry, limit: number): ChangedNotes {
  if (after !== null && !notes.includes(after)) return refused("the entry was changed or removed since then");
  if (before !== null && notes.includes(before)) return refused("an entry with the earlier text exists again");
  const at = after === null ? Math.min(index, notes.length) : notes.indexOf(after);
  const left = notes.toSpliced(at, after === null ? 0 : 1, ...(before === null ? [] : [before]));
  if (notesLength(left) > limit && before !== null) return refused("the earlier text no longer fits into the memory");
  const whole = [...evicted.filter((note) => !left.includes(note)), ...left];
  return { ok: true, notes: notesLength(whole) > limit ? left : whole, evicted: [] };
}

function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

export class MemoryLedger {
  readonly #path: string;
  readonly #now: () => number;

  /** `now`: milliseconds since 1970. */
  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /** Oldest first. A line that cannot be read is left out. */
  read(): Promise<readonly MemoryWrite[]> {
    return readJsonLines(this.#path, recordSchema);
  }

  async append(write: Omit<MemoryWrite, "id" | "at">): Promise<void> {
    const record: MemoryWrite = { id: randomBytes(3).toString("hex"), at: this.#now(), ...write };
    await appendLines(this.#path, `${JSON.stringify(record)}\n`);
  }

  /** Removes the records of an entry. Rejects when writing fails. */
  async forget(text: string): Promise<void> {
    const left = (await this.read()).filter(({ before, after }) => before !== text && after !== text);
    await replaceFile(this.#path, left.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
}

/** The write that an entry comes from; undefined for one that another program or the user wrote. */
export function writeOf(
  writes: readonly MemoryWrite[],
  { target, project }: Pick<MemoryWrite, "target" | "project">,
  note: string,
): MemoryWrite | undefined {
  const fits = (write: MemoryWrite): boolean => {
    return write.target === target && write.project === project && write.after === note;
  };
  return writes.findLast((write) => fits(write) && write.by !== "undo") ?? writes.findLast(fits);
}

/** Writes that can be undone, oldest first. */
export function undoable(writes: readonly MemoryWrite[]): readonly MemoryWrite[] {
  const undone = new Set(writes.map(({ undoes }) => undoes));
  return writes.filter(({ id, by }) => by !== "undo" && !undone.has(id));
}
