/** A second session that begins with what was said in a first one; from then on they do not know each other. */
import { readFile, writeFile } from "node:fs/promises";
import { JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";

const NUMBER = / \((\d{1,4})\)$/;

export type Fork = {
  readonly id: string;
  /** Where it goes on, absolute. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it is called from now on; default: as what it was forked from. */
  readonly title?: string | undefined;
  /** Only what stands in the journal before this message is taken over; default: everything. */
  readonly position?: number | undefined;
};

/** Copies the journal at `from`, whose session is `parent`, to `to`. Rejects when `to` exists or cannot be written. */
export async function forkSession(from: string, to: string, parent: string, fork: Fork): Promise<void> {
  const { id, cwd, at, position, title } = fork;
  const text = await readFile(from, "utf8");
  const afterHead = text.indexOf("\n") + 1;
  // A torn last line stays behind, as when the session itself is read.
  const lines = text.slice(afterHead, Math.max(afterHead, text.lastIndexOf("\n") + 1)).split("\n");
  const end = position === undefined ? -1 : lines.findIndex((line) => isAt(line, position));
  const rest = (end < 0 ? lines : [...lines.slice(0, end), ""]).join("\n");
  const head: JournalEntry = { type: "session", version: JOURNAL_VERSION, id, cwd, parent, at };
  const own: JournalEntry[] = title === undefined ? [] : [{ type: "title", title, at }];
  const begin = JSON.stringify(head);
  await writeFile(to, [begin, rest + own.map((entry) => `${JSON.stringify(entry)}\n`).join("")].join("\n"), {
    mode: 0o600,
    flag: "wx",
  });
}

/** `Title (2)`, or the next number that none of `taken` has; undefined for what has no title. */
export function forkTitle(title: string | undefined, taken: readonly string[]): string | undefined {
  if (title === undefined) return undefined;
  const plain = title.replace(NUMBER, "");
  const numbers = [title, ...taken]
    .filter((other) => other.replace(NUMBER, "") === plain)
    .map((other) => Number(NUMBER.exec(other)?.[1] ?? 1));
  return `${plain} (${Math.max(...numbers) + 1})`;
}

function isAt(line: string, position: number): boolean {
  const entry = parseEntry(line);
  return entry?.type === "message" && (entry.position ?? -1) >= position;
}
