/** Paths of this machine: real ones, places in folders, and facts about them. No function throws. */
import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import nodePath, { dirname, isAbsolute, type PlatformPath, win32 } from "node:path";
import { attempt } from "./errors.ts";

/** Start of an absolute path of Windows. No absolute path of another system begins so. */
const WINDOWS = /^(?:[a-z]:[\\/]|\\\\)/i;
/** A share of another machine: a mere look at it signs in there. */
const ELSEWHERE = /^\\\\(?!wsl(?:\$|\.localhost)\\|[?.]\\[a-z]:)/i;

/** Rules of the system that an absolute path belongs to: those of Windows for its paths on every system. */
export function pathRules(absolute: string): PlatformPath {
  return WINDOWS.test(absolute) ? win32 : nodePath;
}

/** Part of `path` below `folder` (both absolute), empty for the folder itself; undefined outside. Follows no link. */
export function pathBelow(folder: string, path: string): string | undefined {
  const rules = pathRules(folder);
  const inner = rules.relative(folder, path);
  return inner === ".." || inner.startsWith(`..${rules.sep}`) || rules.isAbsolute(inner) ? undefined : inner;
}

/** Facts about a path, or about the link itself; undefined for a missing or unreachable one. */
export function statOf(path: string): Stats | undefined {
  // One may be below a file, or in a folder that may not be looked into.
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }));
}

/** Entries of a folder; none of a file, and of a folder that is gone or may not be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

/** Links that are followed one after another; the Linux kernel stops after 40, too. */
const MAX_LINKS = 40;
/** Longest path that the kernel accepts; a longer one names no file. */
const MAX_PATH = 4096;

/**
 * Real path of an absolute `path`. It follows the symbolic links of the deepest existing parent, and a link whose target
 * is missing, because a write would create the target. Never throws: an unreadable path, and one of a Windows share on
 * another machine, stays unchanged.
 */
export function resolvePath(path: string): string {
  return path.length > MAX_PATH || ELSEWHERE.test(path) ? path : follow(path, 0);
}

/** Test for absolute paths of this folder, which may lead to it through links. It resolves each path once. */
export function sameFolderAs(folder: string): (path: string) => boolean {
  const resolved = resolvePath(folder);
  const known = new Map([[folder, true]]);
  return (path) => {
    const isSame = known.get(path) ?? resolvePath(path) === resolved;
    known.set(path, isSame);
    return isSame;
  };
}

function follow(path: string, links: number): string {
  const real = exists(path) ? realPath(path) : undefined;
  if (real !== undefined) return real;
  if (links > MAX_LINKS) return path;
  const existing = deepestExisting(path);
  if (existing !== path) {
    const joined = pathRules(path).join(follow(existing, links), path.slice(existing.length));
    // The judged command may make the missing folder before it goes up from it.
    return path.includes("/..", existing.length) ? follow(joined, links + 1) : joined;
  }
  const target = attempt(() => readlinkSync(path));
  if (target === undefined) return path;
  return follow(isAbsolute(target) ? target : `${follow(dirname(path), links)}/${target}`, links + 1);
}

/** Longest start of `path` that exists, as a link without a target, too; `/` when no other start exists. */
function deepestExisting(path: string): string {
  const { root } = pathRules(path).parse(path);
  const between = WINDOWS.test(path) ? /[^\\/](?=[\\/]|$)/g : /[^/](?=\/|$)/g;
  between.lastIndex = root.length;
  const ends = [...path.matchAll(between)].map(({ index }) => index + 1);
  // Binary search: below a missing folder nothing exists.
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (exists(path.slice(0, ends[middle - 1]))) low = middle;
    else high = middle - 1;
  }
  return low === ends.length ? path : path.slice(0, ends[low - 1] ?? root.length);
}

function exists(path: string): boolean {
  return statOf(path) !== undefined;
}

function realPath(path: string): string | undefined {
  // A link may lead nowhere or in a circle, or may not be followed.
  return attempt(() => realpathSync.native(path));
}
