/** What a path really names on this machine, also when it does not exist yet. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Links that point at links which do not exist; the kernel gives up after 40 as well. */
const MAX_LINKS = 40;
/** Longest path that the kernel takes; a longer one names nothing. */
const MAX_PATH = 4096;

/**
 * The real path of an absolute `path`: symbolic links of its deepest existing parent are followed, and so is a link
 * whose target is missing (a write through it would create the target). Never throws: what cannot be read stays as is.
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
    // What is missing may be made by the very command that goes through it, and up again.
    return path.includes("/..", existing.length) ? follow(joined, links + 1) : joined;
  }
  const target = linkTarget(path);
  if (target === undefined) return path;
  return follow(target.startsWith("/") ? target : `${follow(dirname(path), links)}/${target}`, links + 1);
}

/** The longest beginning of `path` that names something, a link without a target too; `/` when nothing else does. */
function deepestExisting(path: string): string {
  const ends = [...path.matchAll(/[^/](?=\/|$)/g)].map(({ index }) => index + 1);
  // Where a folder is missing all below it is: what exists comes first.
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
