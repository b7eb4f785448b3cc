/** What a path really names on this machine, also when it does not exist yet. */
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, unreadable or a loop: the last part is looked at on its own below.
  }
  const parent = dirname(path);
  if (parent === path || links > MAX_LINKS) return path;
  const target = linkTarget(path);
  if (target === undefined) return join(follow(parent, links), basename(path));
  return follow(target.startsWith("/") ? target : `${follow(parent, links)}/${target}`, links + 1);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
