/** Memory as text for a session's prompt, frozen at the session's start. */
import { messageOf } from "../platform/errors.ts";
import type { Memory, MemoryTarget } from "./memory.ts";
import { formatNotes, type Notes, notesLength } from "./notes.ts";

export type MemorySnapshot = { readonly [Target in MemoryTarget]: string | undefined };

const HEADS: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your notes from earlier sessions)",
  user: "USER (what you know of the user)",
};

export type SnapshotOptions = {
  /** Gives the reason why an entry must not reach the model. */
  readonly isBad: (text: string) => string | undefined;
  /** Called with a line about an unreadable file; the prompt tells the model that entries are missing. */
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
    return `${HEADS[target]} [cannot be read at the moment: do not take it for empty]`;
  }
  if (notes.length === 0) return undefined;
  const used = notesLength(notes);
  const limit = memory.limit(target);
  const safe = notes.map((note) => {
    const threat = isBad(note);
    return threat === undefined ? note : `[an entry was left out: it holds ${threat}]`;
  });
  const head = `${HEADS[target]} [${Math.round((used / limit) * 100)} % — ${used}/${limit} characters]`;
  return `${head}\n${formatNotes(safe).trimEnd()}`;
}
