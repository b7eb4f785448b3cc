/** A second session that begins with what was said in a first one; from then on they do not know each other. */
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { processIdentity } from "../platform/locks/process-identity.ts";
import { ENTRY_START } from "./damaged-line.ts";
import { JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";
import { type Line, readLines } from "./journal-lines.ts";

const NEWLINE = Buffer.from("\n");
const USAGE_START = Buffer.from('{"type":"usage"');
/** Beside a journal that is being made; named after the process that makes it. */
const UNFINISHED = /\.jsonl\.(\d+)\.tmp$/;

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

/**
 * Copies the journal at `from`, whose session is `parent`, to `to`: as a whole, or not at all. Rejects when `to` exists,
 * and with the system's error when it cannot be written.
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
    if (existsSync(to)) throw new Error(`${to} exists already.`);
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What processes left that were killed over it. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = UNFINISHED.exec(name) ?? [];
    if (pid !== undefined && processIdentity(Number(pid)) === undefined) await rm(join(folder, name), { force: true });
  }
}

async function copy(from: string, file: FileHandle, parent: string, fork: Fork): Promise<void> {
  const { id, cwd, at, position, title } = fork;
  const head: JournalEntry = { type: "session", version: JOURNAL_VERSION, id, cwd, parent, origin: "user", at };
  await file.appendFile(`${JSON.stringify(head)}\n`);
  // A torn last line stays behind, as when the session itself is read.
  for await (const lines of readLines(from)) {
    const end = position === undefined ? -1 : lines.findIndex((line) => isAt(line, position));
    const taken = (end < 0 ? lines : lines.slice(0, end)).filter((line) => !isHead(line) && !isUsage(line));
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

/** What was paid for once is not paid for again. */
function isUsage({ bytes }: Line): boolean {
  return bytes.subarray(0, USAGE_START.length).equals(USAGE_START);
}

/** A fork has its own. What stands first may as well be a damaged line, or one that has run into the next. */
function isHead({ start, bytes }: Line): boolean {
  return start === 0 && bytes.includes('"session"') && bytes.indexOf(ENTRY_START) === bytes.lastIndexOf(ENTRY_START);
}
