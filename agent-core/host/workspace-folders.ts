/** Several folders of one workspace: paths that begin with the name of a folder, and searches over all of them. */
import { existsSync } from "node:fs";
import { isAbsolute, join, normalize, sep } from "node:path";
import { distinctNames } from "../platform/names.ts";

/**
 * Arguments of a call in which a path such as `lib/a.ts` starts at the further workspace folder `lib`, as VS Code labels
 * its files. A name in the working folder comes first. Of folders with the same name, the path names a parent, too.
 */
export function inWorkspaceFolders(input: unknown, cwd: string, otherFolders: readonly string[]): unknown {
  if (otherFolders.length === 0 || typeof input !== "object" || input === null || !("path" in input)) return input;
  const { path } = input;
  if (typeof path !== "string" || isAbsolute(path)) return input;
  const [root = ""] = normalize(path).split(sep);
  if (existsSync(join(cwd, root))) return input;
  const folders = [...otherFolders, cwd];
  const written = normalize(path).split(sep).join("/");
  const index = distinctNames(folders).findIndex((name) => `${written}/`.startsWith(`${name}/`));
  const [folder, name] = [folders[index], distinctNames(folders)[index]];
  return folder === undefined || name === undefined
    ? input
    : { ...input, path: join(folder, written.slice(name.length)) };
}

/** A title with paths relative to the working folder; files of further workspace folders begin with the folder's name. */
export function titleInFolders(title: string, cwd: string, otherFolders: readonly string[]): string {
  const names = distinctNames([...otherFolders, cwd]);
  const withNames = otherFolders.reduce((text, folder, at) => text.replaceAll(folder + sep, `${names[at]}/`), title);
  return withNames.replaceAll(cwd + sep, "");
}

/** The folders that a search in `folder` covers: in the working folder, all of the workspace. */
export function searchedFolders(folder: string, cwd: string, otherFolders: readonly string[]): readonly string[] {
  return folder === cwd ? [cwd, ...otherFolders] : [folder];
}
