/** Copies a session into a new one. Afterwards the two are independent. */
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { processIdentity } from "../platform/locks/process-identity.ts";
import { ENTRY_START } from "./damaged-line.ts";
import { JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";
import { type Line, readLines } from "./journal-lines.ts";

const NEWLINE = Buffer.from("\n");
/** Entries that the fork does not repeat: the original's costs and its place in lists. */
const LEFT_OUT = ['{"type":"usage"', '{"type":"shelf"'].map((start) => Buffer.from(start));
/** Name of an unfinished copy, with the id of the copying process. */
const UNFINISHED = /\.jsonl\.(\d+)\.tmp$/;

export type Fork = {
  readonly id: string;
  /** Working folder of the fork, absolute. */
  readonly cwd: string;
  /** Further workspace folders, absolute. Default: none. */
  readonly folders?: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Default: the title of the original. */
  readonly title?: string | undefined;
  /** The fork gets only the entries before this message. Default: all entries. */
  readonly position?: number | undefined;
};

/**
 * Copies the journal at `from` (session `parent`) to `to`, completely or not at all. Rejects when `to` exists, or with
 * the system's error.
 */
export async function forkSession(from: string, to: string, parent: string, fork: Fork): Promise<void> {
  const temporary = `${to}.${process.pid}.tmp`;
  await removeUnfinished(dirname(to));
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await copy(from, file, parent, fork);
      await file.sync();
    } finally {
      await file.close();
    }
    if (existsSync(to)) throw new Error(`${to} already exists.`);
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Deletes the unfinished copies of processes that have died. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = UNFINISHED.exec(name) ?? [];
    if (pid !== undefined && processIdentity(Number(pid)) === undefined) await rm(join(folder, name), { force: true });
  }
}

async function copy(from: string, file: FileHandle, parent: string, fork: Fork): Promise<void> {
  const { id, cwd, folders = [], at, position, title } = fork;
  const place = { cwd, ...(folders.length > 0 && { folders }) };
  const head: JournalEntry = { type: "session", version: JOURNAL_VERSION, id, ...place, parent, origin: "user", at };
  await file.appendFile(`${JSON.stringify(head)}\n`);
  // A torn last line is skipped, as in every read.
  for await (const lines of readLines(from)) {
    const end = position === undefined ? -1 : lines.findIndex((line) => isAt(line, position));
    const taken = (end < 0 ? lines : lines.slice(0, end)).filter((line) => !isHead(line) && !isLeftOut(line));
    await file.appendFile(Buffer.concat(taken.flatMap(({ bytes }) => [bytes, NEWLINE])));
    if (end >= 0) break;
  }
  const own: JournalEntry | undefined = title === undefined ? undefined : { type: "title", title, at };
  if (own !== undefined) await file.appendFile(`${JSON.stringify(own)}\n`);
}

function isAt({ bytes }: Line, position: number): boolean {
  if (!bytes.includes('"position":')) return false;
  const entry = parseEntry(bytes.toString("utf8"));
  return entry?.type === "message" && (entry.position ?? -1) >= position;
}

function isLeftOut({ bytes }: Line): boolean {
  return LEFT_OUT.some((start) => bytes.subarray(0, start.length).equals(start));
}

/** The fork has a head of its own. A damaged first line may contain the head and a second entry. */
function isHead({ start, bytes }: Line): boolean {
  return start === 0 && bytes.includes('"session"') && bytes.indexOf(ENTRY_START) === bytes.lastIndexOf(ENTRY_START);
}
