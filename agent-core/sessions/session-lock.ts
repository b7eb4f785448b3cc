/** One writer a journal: a file beside it that names the process. A lock whose process is gone is taken over. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import * as z from "zod";

const lockSchema = z.object({ pid: z.number().int().positive() });

export type SessionLock = { release(): void };

/** The process that holds the lock, when it is another one that is alive. */
export type LockHolder = { readonly pid: number };

/** Takes the lock at `path`, or says who has it. A process may take its own lock again: its earlier thread has died. */
export function takeLock(path: string): SessionLock | LockHolder {
  const mine = JSON.stringify({ pid: process.pid });
  try {
    writeFileSync(path, mine, { flag: "wx" });
  } catch (error) {
    if (!isExistsError(error)) throw error;
    const holder = readHolder(path);
    if (holder !== undefined && holder.pid !== process.pid && isAlive(holder.pid)) return holder;
    writeFileSync(path, mine);
  }
  return { release: () => rmSync(path, { force: true }) };
}

function readHolder(path: string): LockHolder | undefined {
  try {
    return lockSchema.safeParse(JSON.parse(readFileSync(path, "utf8"))).data;
  } catch {
    return undefined; // gone or half written: its process died in the middle of it
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isExistsError(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
