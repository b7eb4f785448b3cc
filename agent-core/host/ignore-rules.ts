/** Rules of ignore files (.gitignore, .ignore); `.git` itself is always ignored. */
import { join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

const IGNORE_FILES = [".gitignore", ".ignore"];

/** Rules of one folder's ignore files. */
export type FolderRules = { readonly folder: string; readonly rules: Ignore };

/** Paths of the ignore files among the names in a folder. */
export function ignoreFilesIn(folder: string, names: readonly string[]): readonly string[] {
  return IGNORE_FILES.filter((name) => names.includes(name)).map((name) => join(folder, name));
}

/** `texts` are the contents of the folder's ignore files. */
export function rulesFrom(folder: string, texts: readonly string[]): FolderRules {
  return { folder, rules: ignore().add(texts.join("\n")) };
}

/** `rules` come from the top folder down; the nearest file with a rule for the path decides. */
export function isIgnored(path: string, isFolder: boolean, rules: readonly FolderRules[]): boolean {
  if (path.endsWith(`${sep}.git`)) return true;
  for (const { folder, rules: own } of rules.toReversed()) {
    const inner = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = own.test(isFolder ? `${inner}/` : inner);
    if (ignored || unignored) return ignored;
  }
  return false;
}
