/** The stored sessions of a home: read, rename, fork, delete, import, and the cleanup of their checkpoints. */
import { isAbsolute } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ObjectStore } from "../checkpoints/object-store.ts";
import { checkpointsFolder, sessionIndexFile, sessionsFolder, spillFolder } from "../config/home.ts";
import { Deadline } from "../platform/deadline.ts";
import { lockHolder, lockNote } from "../platform/locks/file-lock.ts";
import { pathBelow, resolvePath, sameFolderAs } from "../platform/paths.ts";
import { type HermesImport, type HermesImported, HermesSessionState } from "../protocol/sessions.ts";
import { type EntryOf, parseEntry } from "../sessions/entry.ts";
import type { ImportReport } from "../sessions/import/import-sessions.ts";
import { SessionIndex } from "../sessions/index/session-index.ts";
import { readFirstLine } from "../sessions/journal-lines.ts";
import { readJournal, type StoredSession } from "../sessions/read-journal.ts";
import { journalPath, newSessionId, sessionIdsIn } from "../sessions/session-files.ts";
import { changeListed, deleteSession, forkSession, subAgentsOf } from "../sessions/stored-session.ts";
import { forkTitle } from "../sessions/titles.ts";
import { writeProblem } from "../sessions/write-fault.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { notWritten, sessionUnusable } from "./request-errors.ts";
import type { SessionParams } from "./session-params.ts";

/** A reloaded window opens its session again while its former process may still be ending. */
const LOCK_WAIT_MS = 2_000;
const LOCK_POLL_MS = 50;
/** Delay of the cleanup, so that the first prompt does not wait for it. */
const CLEANUP_DELAY_MS = 1_000;
const NAMED_FAILURES = 5;

/** `position`: the fork has only the messages before it; default: all. `inWorktree`: it stays in the session's worktree. */
export type ForkSource = { readonly id: string; readonly position?: number; readonly inWorktree?: true };

export type StoredSessionsOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  /** The current client, which gets notifications. */
  readonly client: () => ConnectedClient;
  readonly log: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Loaded with the first deletion or cleanup: no start waits for it. */
const garbageOf = () => import("../checkpoints/collect-garbage.ts");

export class StoredSessions {
  readonly index: SessionIndex;
  readonly #options: StoredSessionsOptions;
  readonly #folder: string;
  /** Contents of files before their changes. */
  readonly #objects: ObjectStore;
  /** First lines of journals, which never change: a list of hundreds would read each again. */
  readonly #heads = new Map<string, EntryOf<"session">>();
  /** Settles at the end of the last import. */
  #importing: Promise<unknown> = Promise.resolve();
  /** Defined after the start of the cleanup. */
  #cleanup: Promise<void> | undefined;
  readonly #disposal = new AbortController();

  constructor(options: StoredSessionsOptions) {
    const { home, client, log } = options;
    this.#options = options;
    this.#folder = sessionsFolder(home);
    this.#objects = new ObjectStore(checkpointsFolder(home));
    const building = (progress: { readonly done: number; readonly total: number }): void =>
      client().notifyBuilding(progress);
    this.index = new SessionIndex({ journals: this.#folder, file: sessionIndexFile(home), log, building });
  }

  /** `unsaved`: lines that are not in the journal yet. */
  async read(id: string, unsaved?: Buffer): Promise<StoredSession> {
    const read = await readJournal(this.#pathOf(id), unsaved, (hash) => this.#objects.textOf(hash));
    if (!read.ok) throw sessionUnusable(id, read.message);
    return read.session;
  }

  /** Changes a fact of a session that lists show. Rejects with an Error in one line when it cannot be written. */
  async change(...change: Parameters<typeof changeListed>): Promise<void> {
    await changeListed(...change);
    this.#options.client().notifySessionsChanged();
  }

  /** Facts of a session's first line; empty when it cannot be read. */
  async headOf(id: string): Promise<Partial<EntryOf<"session">>> {
    const known = this.#heads.get(id);
    if (known !== undefined) return known;
    const head = parseEntry(await readFirstLine(this.#pathOf(id)).catch(() => ""));
    if (head?.type !== "session") return {};
    this.#heads.set(id, head);
    return head;
  }

  /** State of a turn that runs here or in another process. */
  stateOf(id: string): HermesSessionState | undefined {
    return HermesSessionState.safeParse(lockNote(`${this.#pathOf(id)}.lock`)).data;
  }

  /** True while a session other than `own` runs a turn in the folder, here or in another process. */
  async isBusyIn(folder: string, own?: string): Promise<boolean> {
    const busy = (await sessionIdsIn(this.#folder)).filter((id) => id !== own && this.stateOf(id) !== undefined);
    const sessions = await Promise.all(busy.map((id) => this.read(id).catch(() => undefined)));
    return sessions.some((one) => one?.cwd && pathBelow(resolvePath(folder), resolvePath(one.cwd)) !== undefined);
  }

  /** Stores a copy of a session for other folders. Resolves to its id. */
  async fork({ id, position, inWorktree }: ForkSource, asked: SessionParams): Promise<string> {
    const at = this.#options.now();
    const fork = newSessionId(at);
    const [from, to] = [this.#pathOf(id), this.#pathOf(fork)];
    const source = await this.read(id);
    const title = forkTitle(source.title, await this.#relatedTitles(id));
    const requests = inWorktree && (await import("./worktree-requests.ts"));
    const { cwd, otherFolders: folders } = (await requests?.inWorktree(source.cwd, asked)) ?? asked;
    await forkSession(from, to, id, { id: fork, cwd, folders, at, position, title }).catch((error: unknown) => {
      throw notWritten(`The fork of session ${id} cannot be stored`, error);
    });
    this.#options.client().notifySessionsChanged();
    return fork;
  }

  /**
   * Deletes a session that is not open here, with the files of its tools and its sub-agents. An unknown session counts as
   * deleted.
   */
  async delete(id: string): Promise<void> {
    const path = this.#pathOf(id);
    this.#heads.delete(id);
    for (const child of await subAgentsOf(path)) {
      const head = await this.headOf(child); // the journal of a fork also names those of its original
      if (head.origin === "delegation" && head.parent === id) await this.delete(child);
    }
    const { forgetSession, hashesIn } = await garbageOf();
    const hashes = await hashesIn(path);
    const writer = await deleteSession(path, spillFolder(this.#options.home, id)).catch((error: unknown) => {
      throw notWritten(`Session ${id} cannot be deleted`, error);
    });
    if (writer === undefined) await forgetSession(hashes, this.#objects, this.#folder);
    this.#options.client().notifySessionsChanged();
    if (writer) throw sessionUnusable(id, `another Hermes (process ${writer.pid}) is writing it; close it there first`);
  }

  /** Imports sessions, one import at a time. Rejects with an Error in one line. */
  async import(request: HermesImport, signal: AbortSignal): Promise<HermesImported> {
    const { path: from = this.#options.home } = request;
    if (!isAbsolute(from)) throw new Error(`path: ${JSON.stringify(from)} is not an absolute path`);
    const progress = (done: number, total: number): void => this.#options.client().notifyImporting({ done, total });
    const importing = this.#importing.then(() => this.index.import({ from, progress, signal }));
    this.#importing = importing.catch(() => undefined); // the caller of the failed import gets the error
    const report = await importing;
    this.#options.client().notifySessionsChanged();
    return { ...report, summary: importSummary(report) };
  }

  /** Waits while another process has the session open: two writers would not know of each other's messages. */
  async waitUntilFree(id: string): Promise<void> {
    const lock = `${this.#pathOf(id)}.lock`;
    const deadline = new Deadline(LOCK_WAIT_MS);
    let holder = lockHolder(lock);
    while (holder !== undefined && !deadline.hasPassed()) {
      await delay(LOCK_POLL_MS);
      holder = lockHolder(lock);
    }
    if (holder === undefined) return;
    const who = `another Hermes (process ${holder.pid}) has it open`;
    throw sessionUnusable(id, `${who}; close it there first, or fork it to continue in a copy`);
  }

  /** Throws the protocol's error for a string that is not an id. */
  checkId(id: string): void {
    this.#pathOf(id);
  }

  /** Starts the cleanup of unused checkpoints, once. */
  startCleanup(): void {
    this.#cleanup ??= this.#collectGarbage();
  }

  async dispose(): Promise<void> {
    this.#disposal.abort();
    await this.#cleanup;
    await this.index.close();
  }

  #pathOf(id: string): string {
    const path = journalPath(this.#folder, id);
    if (path === undefined) throw sessionUnusable(id, "this is not the id of a session");
    return path;
  }

  async #collectGarbage(): Promise<void> {
    const { signal } = this.#disposal;
    try {
      await delay(CLEANUP_DELAY_MS, undefined, { signal, ref: false });
      const { collectGarbage } = await garbageOf();
      await collectGarbage({ store: this.#objects, journals: this.#folder, now: Date.now(), signal });
    } catch (error) {
      if (!signal.aborted) this.#options.log(`could not remove unused checkpoints: ${String(error)}`);
    }
  }

  /** Titles of other forks. A fork does not fail because the index is missing. */
  async #relatedTitles(id: string): Promise<readonly string[]> {
    try {
      return (await this.index.ask("related", id)).value;
    } catch (error) {
      this.#options.log(`could not read the titles of other forks: ${String(error)}`);
      return [];
    }
  }
}

/** One paragraph; each failure has its own line. */
function importSummary({ imported, unchanged, deleted, failed }: ImportReport): string {
  const facts = [
    counted(imported, "was imported", "were imported"),
    counted(unchanged, "was already imported", "were already imported"),
    counted(deleted, "was skipped because it was deleted here", "were skipped because they were deleted here"),
    counted(failed.length, "could not be imported", "could not be imported"),
  ].filter((fact) => fact !== undefined);
  if (facts.length === 0) return "There is no session to import.";
  const named = failed.slice(0, NAMED_FAILURES).map(({ id, why }) => `- ${id}: ${why}`);
  const more = failed.length > NAMED_FAILURES ? [`- and ${failed.length - NAMED_FAILURES} more`] : [];
  return [`${facts.join("; ")}.`, ...named, ...more].join("\n");
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 session ${one}` : `${count.toLocaleString("en")} sessions ${many}`;
}

/** Warnings about a stored session, one line each. `folderProblem` ends a sentence about the folder. */
export function storedNotes(
  { path, damagedLines, cwd: before }: StoredSession,
  cwd: string,
  folderProblem: string | undefined,
): readonly string[] {
  const fault = writeProblem(path);
  return [
    ...(damagedLines === 0 ? [] : [`${linesOf(damagedLines)} left out; the rest is complete (${path}).`]),
    ...(fault === undefined ? [] : [`This session can be read but not saved: ${fault}.`]),
    ...(before === "" || sameFolderAs(cwd)(before) ? [] : [`This session was in ${before}, and goes on in ${cwd}.`]),
    ...(folderProblem === undefined ? [] : [`The folder ${cwd} ${folderProblem}. ${WITHOUT_FOLDER}`]),
  ];
}

const WITHOUT_FOLDER = "The conversation is here in full, and can go on once the folder exists.";

function linesOf(count: number): string {
  return count === 1
    ? "1 line of this session's journal cannot be read and was"
    : `${count} lines of this session's journal cannot be read and were`;
}
