/**
 * One writer of a file: another file beside it names the process. A lock whose process is gone is taken over, by one
 * of those who want it. Whatever stands in a lock file was there from its first moment on: it is written elsewhere
 * and put in its place as a whole.
 */
import { createHash, randomUUID } from "node:crypto";
import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import * as z from "zod";
import { hasCode } from "../errors.ts";
import { processIdentity } from "./process-identity.ts";

const lockSchema = z.object({ pid: z.number().int().positive(), birth: z.string().exactOptional() });

/** Each time that a lock is given back while one looks, one looks again. */
const MOST_LOOKS = 100;
/** File systems without hard links say one of these. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

export type FileLock = { release(): void };

/** The process that holds the lock, when it is another one that is alive. */
export type LockHolder = { readonly pid: number };

/**
 * Takes the lock at `path`, or says who has it. A process may take its own lock again: its earlier thread has died.
 * Throws the system's error when no lock can be written there.
 */
export function acquireLock(path: string): FileLock | LockHolder {
  const birth = processIdentity(process.pid)?.birth;
  const mine = JSON.stringify({ pid: process.pid, ...(birth !== undefined && { birth }), nonce: randomUUID() });
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, mine, { flag: "wx" });
    return put(draft, path) ?? { release: () => giveBack(path, mine) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Who holds the lock at `path` now; undefined: nobody, or this process. Throws when the lock cannot be read. */
export function lockHolder(path: string): LockHolder | undefined {
  const held = read(path);
  return held === undefined ? undefined : livingHolder(held);
}

/** Gives who is in the way; undefined: the lock is ours. */
function put(draft: string, path: string): LockHolder | undefined {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (isPlaced(draft, path)) return undefined;
    const held = read(path);
    if (held === undefined) continue;
    const holder = livingHolder(held);
    if (holder !== undefined) return holder;
    // Of all who find this very lock dead, the one who gets the lock with its name may put his own in its place.
    const guard = `${path}.${createHash("sha256").update(held).digest("hex").slice(0, 16)}`;
    const other = put(draft, guard);
    if (other !== undefined) return other;
    try {
      if (read(path) !== held) continue;
      renameSync(copyOf(draft), path);
      return undefined;
    } finally {
      rmSync(guard, { force: true });
    }
  }
  throw new Error(`the lock ${path} is taken and given back all the time`);
}

/** False when there is a file already. */
function isPlaced(draft: string, path: string): boolean {
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

/** What is renamed is gone, and the draft may be needed again. */
function copyOf(draft: string): string {
  const copy = `${draft}.copy`;
  copyFileSync(draft, copy);
  return copy;
}

function giveBack(path: string, mine: string): void {
  if (read(path) === mine) rmSync(path, { force: true });
}

/** Undefined: there is none any more. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Undefined: it is dead, or this process itself; what is no lock was damaged, and is nobody's. */
function livingHolder(held: string): LockHolder | undefined {
  const holder = parsed(held);
  if (holder === undefined || holder.pid === process.pid) return undefined;
  const life = processIdentity(holder.pid);
  if (life === undefined) return undefined;
  const isAnother = holder.birth !== undefined && life.birth !== undefined && life.birth !== holder.birth;
  return isAnother ? undefined : { pid: holder.pid };
}

function parsed(held: string): z.infer<typeof lockSchema> | undefined {
  try {
    return lockSchema.safeParse(JSON.parse(held)).data;
  } catch {
    return undefined; // no JSON
  }
}
