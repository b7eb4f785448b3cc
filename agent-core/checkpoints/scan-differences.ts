/** Comparison of two scans of a workspace, before and after commands. */
import { dirname } from "node:path";
import type { Earlier } from "./mirror.ts";
import type { Scan } from "./workspace-scan.ts";

/** Paths of files that differ. */
export function* differences(before: Scan, after: Scan): Generator<string> {
  for (const [path, { signature }] of after.files) {
    if (before.files.get(path)?.signature !== signature) yield path;
  }
  for (const path of before.files.keys()) {
    if (!after.files.has(path)) yield path;
  }
}

/** Leaves a file as the earlier scan saw it. */
export function keepKnown(path: string, before: Scan, after: Scan): void {
  const seen = before.files.get(path);
  if (seen === undefined) after.files.delete(path);
  else after.files.set(path, seen);
}

/**
 * False for a change of an ignored file that nobody wants back: of all but deletions, and of those in a folder where the same
 * command made files, as a build does.
 */
export function isOwn(path: string, before: Scan, after: Scan): boolean {
  const [was, is] = [before.files.get(path), after.files.get(path)];
  if (is === undefined) return was?.ignored === undefined || !outputs(before, after).has(was.ignored);
  return is.ignored === undefined || (was !== undefined && was.ignored === undefined);
}

const madeIn = new WeakMap<Scan, ReadonlySet<string>>();

/** Ignored folders in which files were made between two scans. */
function outputs(before: Scan, after: Scan): ReadonlySet<string> {
  const known = madeIn.get(after);
  if (known !== undefined) return known;
  const made = [...after.files].filter(([path]) => !before.files.has(path));
  const found = new Set(made.flatMap(([, { ignored = [] }]) => ignored));
  madeIn.set(after, found);
  return found;
}

/** State before a command of a file that the scan had not seen: it did not exist, or ignore files left it out. */
export function unseenState(path: string, { ignored }: Scan): Earlier | null {
  const isIgnored = [path, ...foldersAbove(path)].some((each) => ignored.has(each));
  return isIgnored ? { lacks: "it was ignored before the command" } : null;
}

/** Folders that were created for a new file, the outermost first. */
export function newFolders(path: string, { folders }: Scan): string[] {
  const above = foldersAbove(path);
  const first = above.findIndex((folder) => folders.has(folder));
  return above.slice(0, Math.max(0, first)).toReversed();
}

/** The innermost first. */
function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}
