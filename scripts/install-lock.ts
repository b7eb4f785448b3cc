// Lock file with its owner's process id, for one installation at a time. The lock of a dead process is taken over.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 500;

/**
 * Waits for the lock file at `path` and runs `work` while this process owns it.
 * Calls `onWait` once with the owner's process id if another process has the lock.
 */
export async function withLock<T>(path: string, onWait: (pid: number) => void, work: () => Promise<T>): Promise<T> {
  await takeLock(path, onWait);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

async function takeLock(path: string, onWait: (pid: number) => void): Promise<void> {
  let isReported = false;
  while (!tryLock(path)) {
    const owner = ownerOf(path);
    if (owner === undefined) continue;
    if (!isAlive(owner)) {
      discardStale(path, owner);
      continue;
    }
    if (!isReported) onWait(owner);
    isReported = true;
    await sleep(POLL_MS);
  }
}

/** Links a complete file into place, so no process ever reads a lock without an owner. */
function tryLock(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Only one process succeeds in renaming the file. If it renamed a newer lock, it restores that one. */
function discardStale(path: string, owner: number): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (ownerOf(aside) !== owner) linkSync(aside, path);
  rmSync(aside, { force: true });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
