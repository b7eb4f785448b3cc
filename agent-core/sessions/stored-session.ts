/** Changes to a stored session that no agent has open, its forks, and the list of deleted imports. */
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode, messageOf } from "../platform/errors.ts";
import { acquireLock, type LockHolder } from "../platform/locks/file-lock.ts";
import { processIdentity } from "../platform/locks/process-identity.ts";
import { type EntryOf, JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";
import { Journal } from "./journal.ts";
import { ENTRY_START, type Line, readLines } from "./journal-lines.ts";
import type { StoredSession } from "./read-journal.ts";
import { isSessionId } from "./session-files.ts";

/**
 * Deletes a session's journal and spilled results. `journal` and `spillFolder` are absolute. Returns the process that
 * writes the session, if any; then nothing is deleted. Rejects with the system's error.
 */
export async function deleteSession(journal: string, spillFolder: string): Promise<LockHolder | undefined> {
  if (!existsSync(journal)) return undefined; // already deleted; its folder may be missing too, so no lock can be created
  const lock = acquireLock(`${journal}.lock`);
  if ("pid" in lock) return lock;
  try {
    await noteDeletion(journal, basename(journal, ".jsonl")); // first, so that a crash in between does not let an import bring the session back
    await rm(journal, { force: true });
    await rm(spillFolder, { recursive: true, force: true });
  } finally {
    lock.release();
  }
  return undefined;
}

/** Sessions of sub-agents that a journal names; none for an unreadable one. */
export async function subAgentsOf(journal: string): Promise<readonly string[]> {
  const children: string[] = [];
  try {
    for await (const lines of readLines(journal)) {
      for (const { bytes } of lines) {
        if (!bytes.includes('"type":"delegation"')) continue;
        const entry = parseEntry(bytes.toString("utf8"));
        if (entry?.type === "delegation") children.push(entry.child);
      }
    }
  } catch {
    // The journal is gone or unreadable.
  }
  return children;
}

/** Appends entries with their own times. Rejects with an Error in one line. */
export async function appendEntries(
  { path, id, cwd }: Pick<StoredSession, "path" | "id" | "cwd">,
  entries: readonly Exclude<JournalEntry, { type: "session" }>[],
): Promise<void> {
  let at = 0;
  let failure: string | undefined;
  const onFailure = (_: string, reason: string): void => {
    failure ??= reason;
  };
  const journal = new Journal({ path, sessionId: id, cwd, now: () => at, onFailure });
  for (const { at: time, ...entry } of entries) {
    at = time;
    journal.append(entry);
  }
  await journal.sync();
  journal.close();
  if (failure !== undefined) throw new Error(failure);
}

/** Calls of the last answer without a result, with their arguments as JSON. */
export function openCalls({ conversation: { transcript } }: StoredSession): ReadonlyMap<string, string> {
  const last = transcript.findLastIndex(({ role }) => role === "assistant");
  const answer = transcript[last]?.message;
  const results = transcript.slice(last + 1).map(({ message }) => message);
  if (answer?.role !== "assistant" || results.some(({ role }) => role !== "tool")) return new Map();
  const answered = new Set(results.map((message) => (message.role === "tool" ? message.tool_call_id : "")));
  const open = (answer.tool_calls ?? []).filter(({ id }) => !answered.has(id));
  return new Map(open.map(({ id, function: call }) => [id, call.arguments]));
}

/**
 * Stores results in place of those that were lost with their process: of calls that had ended while others of the same
 * answer ran. Resolves to true when there were any: the session must be read again. Rejects with an Error in one line.
 */
export async function recoverResults(stored: StoredSession): Promise<boolean> {
  const lost = [...openCalls(stored).keys()].filter((id) => stored.endedCalls.has(id));
  const entries = lost.map((id, index) => {
    const entry = stored.toolEntry(id);
    const end = "Hermes ended before it stored the result: look again where you need it.";
    const content = entry?.ok === true ? `Done: ${entry.title}. ${end}` : `Error: this call failed. ${end}`;
    const message = { role: "tool", tool_call_id: id, content } as const;
    return { type: "message", position: stored.conversation.next + index, message, at: Date.now() } as const;
  });
  if (entries.length > 0) await appendEntries(stored, entries);
  return entries.length > 0;
}

/** Facts of a session that lists show, as an error names them. */
const LISTED = { shelf: "session's place in the list", title: "name" } as const;

/** Changes a fact of a session that lists show. Rejects with an Error in one line. */
export async function changeListed(
  session: StoredSession,
  entry: Omit<EntryOf<"shelf">, "at"> | Omit<EntryOf<"title">, "at">,
): Promise<void> {
  try {
    await appendEntries(session, [{ ...entry, at: Date.now() }]);
  } catch (error) {
    throw new Error(`The ${LISTED[entry.type]} cannot be stored: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * List of imported sessions that the user deleted, so that the next import leaves them out. The file is next to the
 * journals, has one id per line and only grows. A torn line is skipped.
 */
const DELETED_IMPORTS = "deleted-imports";

/** Records the deletion of the session in `journal` (absolute) if it was imported. Rejects with the system's error. */
async function noteDeletion(journal: string, id: string): Promise<void> {
  if (!(await wasImported(journal))) return;
  const file = await open(join(dirname(journal), DELETED_IMPORTS), "a", 0o600);
  try {
    // The leading newline ends a torn line.
    await file.appendFile(`\n${id}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Ids of deleted imports in the folder `journals` (absolute). Rejects when the list cannot be read. */
export async function deletedImports(journals: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(journals, DELETED_IMPORTS), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return ""; // no deletion yet
    throw error;
  });
  return new Set(text.split("\n").filter(isSessionId));
}

async function wasImported(journal: string): Promise<boolean> {
  for await (const [head] of readLines(journal)) {
    if (head === undefined) continue; // the line is longer than one read
    const entry = parseEntry(head.bytes.toString("utf8"));
    return entry?.type === "session" && entry.source === "import";
  }
  return false;
}

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
    const taken = (end < 0 ? lines : lines.slice(0, end)).filter(
      (line) => !isHead(line) && !LEFT_OUT.some((start) => line.bytes.subarray(0, start.length).equals(start)),
    );
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

/** The fork has a head of its own. A damaged first line may contain the head and a second entry. */
function isHead({ start, bytes }: Line): boolean {
  return start === 0 && bytes.includes('"session"') && bytes.indexOf(ENTRY_START) === bytes.lastIndexOf(ENTRY_START);
}
