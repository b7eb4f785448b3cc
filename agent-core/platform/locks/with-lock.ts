/** Runs work on a small file of the home while no other process or task changes it. */
import { setTimeout as delay } from "node:timers/promises";
import { KeyedQueue } from "../keyed-queue.ts";
import { acquireLock, type FileLock } from "./file-lock.ts";

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
