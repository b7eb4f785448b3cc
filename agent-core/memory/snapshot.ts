/** The memory as a session's prompt has it: as it was when the session began, frozen with it. */
import type { Memory, MemoryTarget } from "./memory.ts";
import { formatNotes, notesLength } from "./notes.ts";

export type MemorySnapshot = { readonly [Target in MemoryTarget]: string | undefined };

const HEADS: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your notes from earlier sessions)",
  user: "USER (what you know of the user)",
};

/** Undefined for what has no entries. `isBad`: says of an entry's text why it must not reach the model. */
export async function memorySnapshot(
  memory: Memory,
  isBad: (text: string) => string | undefined,
): Promise<MemorySnapshot> {
  const [notes, user] = await Promise.all([shown(memory, "memory", isBad), shown(memory, "user", isBad)]);
  return { memory: notes, user };
}

async function shown(
  memory: Memory,
  target: MemoryTarget,
  isBad: (text: string) => string | undefined,
): Promise<string | undefined> {
  const notes = await memory.read(target);
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
