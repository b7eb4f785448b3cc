/** A second session that begins with what was said in a first one; from then on they do not know each other. */
import { readFile, writeFile } from "node:fs/promises";
import { JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";

export type Fork = {
  readonly id: string;
  /** Where it goes on, absolute. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Only what stands in the journal before this message is taken over; default: everything. */
  readonly position?: number | undefined;
};

/** Copies the journal at `from`, whose session is `parent`, to `to`. Rejects when `to` exists or cannot be written. */
export async function forkSession(from: string, to: string, parent: string, fork: Fork): Promise<void> {
  const { id, cwd, at, position } = fork;
  const text = await readFile(from, "utf8");
  const afterHead = text.indexOf("\n") + 1;
  // A torn last line stays behind, as when the session itself is read.
  const lines = text.slice(afterHead, Math.max(afterHead, text.lastIndexOf("\n") + 1)).split("\n");
  const end = position === undefined ? -1 : lines.findIndex((line) => isAt(line, position));
  const rest = (end < 0 ? lines : [...lines.slice(0, end), ""]).join("\n");
  const head: JournalEntry = { type: "session", version: JOURNAL_VERSION, id, cwd, parent, at };
  await writeFile(to, `${JSON.stringify(head)}\n${rest}`, { mode: 0o600, flag: "wx" });
}

function isAt(line: string, position: number): boolean {
  const entry = parseEntry(line);
  return entry?.type === "message" && (entry.position ?? -1) >= position;
}
