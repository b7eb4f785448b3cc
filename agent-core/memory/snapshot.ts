/** The memory as a session's prompt has it: as it was when the session began, frozen with it. */

import { messageOf } from "../platform/errors.ts";
import type { Memory, MemoryTarget } from "./memory.ts";
import { formatNotes, type Notes, notesLength } from "./notes.ts";

export type MemorySnapshot = { readonly [Target in MemoryTarget]: string | undefined };

const HEADS: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your notes from earlier sessions)",
  user: "USER (what you know of the user)",
};

export type SnapshotOptions = {
  /** Says of an entry's text why it must not reach the model. */
  readonly isBad: (text: string) => string | undefined;
  /** Told in a line of a file that cannot be read; the model is told that there is more than it sees. */
  readonly onDefect: (message: string) => void;
};

/** Undefined for what has no entries. */
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
    onDefect(`What is remembered cannot be read: ${messageOf(error)}`);
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
