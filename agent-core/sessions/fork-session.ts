/** A second session that begins with what was said in a first one; from then on they do not know each other. */
import { readFile, writeFile } from "node:fs/promises";
import { JOURNAL_VERSION, type JournalEntry } from "./entry.ts";

export type Fork = {
  readonly id: string;
  /** Where it goes on, absolute. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Copies the journal at `from`, whose session is `parent`, to `to`. Rejects when `to` exists or cannot be written. */
export async function forkSession(from: string, to: string, parent: string, { id, cwd, at }: Fork): Promise<void> {
  const text = await readFile(from, "utf8");
  const afterHead = text.indexOf("\n") + 1;
  // A torn last line stays behind, as when the session itself is read.
  const rest = text.slice(afterHead, Math.max(afterHead, text.lastIndexOf("\n") + 1));
  const head: JournalEntry = { type: "session", version: JOURNAL_VERSION, id, cwd, parent, at };
  await writeFile(to, `${JSON.stringify(head)}\n${rest}`, { mode: 0o600, flag: "wx" });
}
