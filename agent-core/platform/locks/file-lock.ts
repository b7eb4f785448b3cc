/**
 * Lock of a file for one process. The lock file names its process; after that process has died, exactly one other takes the
 * lock over. A lock file is never incomplete: its text is written to a draft, which is then linked as a whole.
 */
import { createHash } from "node:crypto";
import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { hasCode } from "../errors.ts";
import { parseJson } from "../json.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import { newId } from "../new-id.ts";
import { processIdentity } from "./process-identity.ts";

const lockSchema = z.object({
  pid: z.number().int().positive(),
  birth: z.string().exactOptional(),
  note: z.string().exactOptional(),
});

/** Attempts against locks that others release and acquire at the same moment. */
const MAX_ATTEMPTS = 100;
/** Errors of file systems without hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

export type FileLock = {
  release(): void;
  /** Puts a word about the work into the lock file, for `lockNote`; undefined removes it. A lost lock ignores it. */
  note(note: string | undefined): void;
};

/** Another living process that holds the lock. */
export type LockHolder = { readonly pid: number };

/**
 * Acquires the lock at `path`, or gives its holder. A process may acquire its own lock again: its earlier thread has died.
 * Throws the system's error when the lock file cannot be written.
 */
export function acquireLock(path: string): FileLock | LockHolder {
  const birth = processIdentity(process.pid)?.startTime;
  const facts = { pid: process.pid, ...(birth !== undefined && { birth }), nonce: newId() };
  let mine = JSON.stringify(facts);
  const draft = `${path}.${newId()}`;
  const note = (text: string | undefined): void => {
    if (read(path) !== mine) return;
    mine = JSON.stringify({ ...facts, note: text });
    writeFileSync(draft, mine);
    renameSync(draft, path);
  };
  try {
    writeFileSync(draft, mine, { flag: "wx" });
    return place(draft, path) ?? { release: () => release(path, mine), note };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Note of the living process, also of this one, that holds the lock at `path`. Undefined for a free lock. */
export function lockNote(path: string): string | undefined {
  const held = parsed(read(path) ?? "");
  return held?.note !== undefined && isAlive(held) ? held.note : undefined;
}

/** Holder of the lock at `path`; undefined for a free lock and for one of this process. Throws when it cannot be read. */
export function lockHolder(path: string): LockHolder | undefined {
  const held = read(path);
  return held === undefined ? undefined : livingHolder(held);
}

/** Holder of the lock; undefined once the lock is ours. */
function place(draft: string, path: string): LockHolder | undefined {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (link(draft, path)) return undefined;
    const held = read(path);
    if (held === undefined) continue;
    const holder = livingHolder(held);
    if (holder !== undefined) return holder;
    // Of all processes that find this lock dead, the one that acquires the guard may replace it.
    const guard = `${path}.${createHash("sha256").update(held).digest("hex").slice(0, 16)}`;
    const other = place(draft, guard);
    if (other !== undefined) return other;
    try {
      if (read(path) !== held) continue;
      renameSync(copyOf(draft), path);
      return undefined;
    } finally {
      rmSync(guard, { force: true });
    }
  }
  throw new Error(
    `could not acquire lock ${path} after ${MAX_ATTEMPTS} attempts: other processes keep taking it. Try again.`,
  );
}

/** False when the file exists. */
function link(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    if (!hasCode(error, ...NO_LINKS)) throw error;
  }
  try {
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** A rename consumes its file, and the draft may be needed again. */
function copyOf(draft: string): string {
  const copy = `${draft}.copy`;
  copyFileSync(draft, copy);
  return copy;
}

function release(path: string, mine: string): void {
  if (read(path) === mine) rmSync(path, { force: true });
}

/** Text of the lock file; undefined for a missing file. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Undefined for a dead holder, for this process, and for a damaged lock file. */
function livingHolder(held: string): LockHolder | undefined {
  const holder = parsed(held);
  if (holder === undefined || holder.pid === process.pid) return undefined;
  return isAlive(holder) ? { pid: holder.pid } : undefined;
}

type Holder = z.infer<typeof lockSchema>;

/** False when the id of the process belongs to a later one. */
function isAlive({ pid, birth }: Holder): boolean {
  const identity = processIdentity(pid);
  if (identity === undefined) return false;
  return birth === undefined || identity.startTime === undefined || identity.startTime === birth;
}

function parsed(held: string): Holder | undefined {
  return lockSchema.safeParse(parseJson(held)).data;
}

/** A change takes milliseconds: a process that holds the lock this long hangs. */
const TIMEOUT_MS = 10_000;
/** Pauses are random up to this length, or two processes would collide again and again. */
const MAX_PAUSE_MS = 10;

/** Orders the tasks of this process, which can acquire its own lock again. */
const queue = new KeyedQueue();

/**
 * Runs `work` with the lock at `path`, after earlier work on the same lock. The folder must exist. Rejects as `work`
 * does, and when a living process holds the lock for more than ten seconds.
 */
export function withLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return queue.run(path, () => workLocked(path, work));
}

/** The same for synchronous work: the thread waits. One lock must not be used with both functions. */
export function withLockSync<Result>(path: string, work: () => Result): Result {
  const deadline = performance.now() + TIMEOUT_MS;
  let lock = acquireOrFail(path, deadline);
  while (lock === undefined) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause());
    lock = acquireOrFail(path, deadline);
  }
  try {
    return work();
  } finally {
    lock.release();
  }
}

async function workLocked<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + TIMEOUT_MS;
  let lock = acquireOrFail(path, deadline);
  while (lock === undefined) {
    await delay(pause());
    lock = acquireOrFail(path, deadline);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function acquireOrFail(path: string, deadline: number): FileLock | undefined {
  const lock = acquireLock(path);
  if (!("pid" in lock)) return lock;
  if (performance.now() < deadline) return undefined;
  throw new Error(`could not lock ${path}: process ${lock.pid} keeps it locked. Close that process, or try again.`);
}

function pause(): number {
  return 1 + Math.random() * (MAX_PAUSE_MS - 1);
}
