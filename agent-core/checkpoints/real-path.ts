/** One name for a file, whatever links lead to it: as it is called within its workspace folder, else its real path. */
import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";

/** `path` may not exist yet. `roots` are the workspace folders as the session calls them. */
export async function fileName(path: string, roots: readonly string[]): Promise<string> {
  const real = await realPathOf(path);
  for (const root of roots) {
    const inner = relative(await realPathOf(root), real);
    if (!inner.startsWith("..") && !isAbsolute(inner)) return join(root, inner);
  }
  return real;
}

/** The same of a folder's entry: a link is named itself, not what it points to. */
export async function entryName(path: string, roots: readonly string[]): Promise<string> {
  return join(await fileName(dirname(path), roots), basename(path));
}

/** The path itself where nothing can be followed. */
async function realPathOf(path: string): Promise<string> {
  const whole = await realpath(path).catch(() => undefined);
  if (whole !== undefined) return whole;
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(parent), basename(path));
}
