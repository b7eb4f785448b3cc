/** Paths as the model writes them and people read them. */
import { homedir } from "node:os";
import { isAbsolute, join, normalize, resolve, sep } from "node:path";
import { oneLine } from "../platform/one-line.ts";
import { pathBelow } from "../platform/paths.ts";

/** Absolute path: relative ones start at `cwd`, `~/` at the user's home folder. */
export function absolutePath(path: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? normalize(path) : resolve(cwd, path);
}

/** Path for people: relative to `cwd` when it is inside it. */
export function shownPath(path: string, cwd: string): string {
  const inner = pathBelow(cwd, path);
  if (inner === undefined) return path;
  return inner === "" ? "." : inner.split(sep).join("/");
}

/** A title of at most 80 characters. */
export function shortTitle(title: string): string {
  return oneLine(title, 80);
}
