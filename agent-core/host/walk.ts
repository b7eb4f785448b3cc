/** Files of a folder in order of their paths, without what ignore files exclude. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

const IGNORE_FILES = [".gitignore", ".ignore"];

type Rules = { readonly folder: string; readonly rules: Ignore };

/** Gives absolute paths of regular files; symbolic links are not followed, unreadable folders are passed over. */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<string> {
  yield* walkFolder(root, [], signal);
}

async function* walkFolder(folder: string, above: readonly Rules[], signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const own = await rulesOf(
    folder,
    entries.map((entry) => entry.name),
  );
  const rules = own === undefined ? above : [...above, own];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.name === ".git" || isIgnored(path, entry.isDirectory(), rules)) continue;
    if (entry.isDirectory()) yield* walkFolder(path, rules, signal);
    else if (entry.isFile()) yield path;
  }
}

async function rulesOf(folder: string, names: readonly string[]): Promise<Rules | undefined> {
  const found = IGNORE_FILES.filter((name) => names.includes(name));
  if (found.length === 0) return undefined;
  const texts = await Promise.all(found.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return { folder, rules: ignore().add(texts.join("\n")) };
}

/** The nearest file that says anything of the path decides. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { folder, rules: own } of rules.toReversed()) {
    const inner = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = own.test(isFolder ? `${inner}/` : inner);
    if (ignored || unignored) return ignored;
  }
  return false;
}
