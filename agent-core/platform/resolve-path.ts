/** Real path of a file on this machine, also of one that does not exist yet. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Links that are followed one after another; the Linux kernel stops after 40, too. */
const MAX_LINKS = 40;
/** Longest path that the kernel accepts; a longer one names no file. */
const MAX_PATH = 4096;

/**
 * Real path of an absolute `path`. It follows the symbolic links of the deepest existing parent, and a link whose target
 * is missing, because a write would create the target. Never throws: an unreadable path stays unchanged.
 */
export function resolvePath(path: string): string {
  return path.length > MAX_PATH ? path : follow(path, 0);
}

function follow(path: string, links: number): string {
  const real = exists(path) ? realPath(path) : undefined;
  if (real !== undefined) return real;
  if (links > MAX_LINKS) return path;
  const existing = deepestExisting(path);
  if (existing !== path) {
    const joined = join(follow(existing, links), path.slice(existing.length));
    // The judged command may make the missing folder before it goes up from it.
    return path.includes("/..", existing.length) ? follow(joined, links + 1) : joined;
  }
  const target = linkTarget(path);
  if (target === undefined) return path;
  return follow(target.startsWith("/") ? target : `${follow(dirname(path), links)}/${target}`, links + 1);
}

/** Longest start of `path` that exists, as a link without a target, too; `/` when no other start exists. */
function deepestExisting(path: string): string {
  const ends = [...path.matchAll(/[^/](?=\/|$)/g)].map(({ index }) => index + 1);
  // Binary search: below a missing folder nothing exists.
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (exists(path.slice(0, ends[middle - 1]))) low = middle;
    else high = middle - 1;
  }
  return low === ends.length ? path : path.slice(0, ends[low - 1] ?? 1);
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a folder that may not be looked into
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // a link that leads nowhere or in a circle, or that may not be followed
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
