/** Files of a folder in order of their paths, without what ignore files exclude. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FolderRules, ignoreFilesIn, isIgnored, rulesFrom } from "./ignore-rules.ts";

/** Gives absolute paths of regular files; symbolic links are not followed, unreadable folders are passed over. */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<string> {
  yield* walkFolder(root, [], signal);
}

async function* walkFolder(folder: string, above: readonly FolderRules[], signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const own = await rulesOf(
    folder,
    entries.map((entry) => entry.name),
  );
  const rules = own === undefined ? above : [...above, own];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (isIgnored(path, entry.isDirectory(), rules)) continue;
    if (entry.isDirectory()) yield* walkFolder(path, rules, signal);
    else if (entry.isFile()) yield path;
  }
}

async function rulesOf(folder: string, names: readonly string[]): Promise<FolderRules | undefined> {
  const found = ignoreFilesIn(folder, names);
  if (found.length === 0) return undefined;
  return rulesFrom(folder, await Promise.all(found.map((path) => readFile(path, "utf8").catch(() => ""))));
}
