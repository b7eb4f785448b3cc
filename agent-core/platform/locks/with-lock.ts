/** Reads and changes a small file of the home while no other process does. */
import { setTimeout as delay } from "node:timers/promises";
import { KeyedQueue } from "../keyed-queue.ts";
import { acquireLock, type FileLock } from "./file-lock.ts";

/** A change takes milliseconds: whoever is alive and holds the lock for this long hangs. */
const GIVE_UP_MS = 10_000;
/** Waits differ by up to this much, or two that began together would meet again and again. */
const LONGEST_PAUSE_MS = 10;

/** What waits in this process, by lock: a process may take its own lock again, so that locks alone do not part these. */
const turns = new KeyedQueue();

/**
 * Does `work` with the lock at `path`, which is waited for; the folder must exist. One after the other, in this
 * process too. Rejects as `work` does, and when a living process holds the lock for more than ten seconds.
 */
export function withLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return turns.run(path, () => workLocked(path, work));
}

/** The same for work that ends at once: the thread waits. Not to be mixed with the other on one lock. */
export function withLockSync<Result>(path: string, work: () => Result): Result {
  const deadline = performance.now() + GIVE_UP_MS;
  let lock = takeOrFail(path, deadline);
  while (lock === undefined) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause());
    lock = takeOrFail(path, deadline);
  }
  try {
    return work();
  } finally {
    lock.release();
  }
}

async function workLocked<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + GIVE_UP_MS;
  let lock = takeOrFail(path, deadline);
  while (lock === undefined) {
    await delay(pause());
    lock = takeOrFail(path, deadline);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function takeOrFail(path: string, deadline: number): FileLock | undefined {
  const lock = acquireLock(path);
  if (!("pid" in lock)) return lock;
  if (performance.now() < deadline) return undefined;
  throw new Error(`process ${lock.pid} keeps it locked (${path})`);
}

function pause(): number {
  return 1 + Math.random() * (LONGEST_PAUSE_MS - 1);
}
