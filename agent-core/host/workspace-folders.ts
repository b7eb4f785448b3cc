/** Several folders of one workspace: paths that begin with the name of a folder, and searches over all of them. */
import { existsSync } from "node:fs";
import { basename, isAbsolute, join, normalize, sep } from "node:path";

/**
 * Arguments of a call in which a path such as `lib/a.ts` starts at the further workspace folder `lib`, as VS Code labels
 * its files. A name in the working folder comes first.
 */
export function inWorkspaceFolders(input: unknown, cwd: string, otherFolders: readonly string[]): unknown {
  if (otherFolders.length === 0 || typeof input !== "object" || input === null || !("path" in input)) return input;
  const { path } = input;
  if (typeof path !== "string" || isAbsolute(path)) return input;
  const [root = "", ...inner] = normalize(path).split(sep);
  const folder = [...otherFolders, cwd].find((one) => basename(one) === root);
  if (folder === undefined || existsSync(join(cwd, root))) return input;
  return { ...input, path: join(folder, ...inner) };
}

/** A title in which files of further workspace folders begin with the name of their folder. */
export function titleInFolders(title: string, otherFolders: readonly string[]): string {
  return otherFolders.reduce((text, folder) => text.replaceAll(folder + sep, `${basename(folder)}/`), title);
}

/** The folders that a search in `folder` covers: in the working folder, all of the workspace. */
export function searchedFolders(folder: string, cwd: string, otherFolders: readonly string[]): readonly string[] {
  return folder === cwd ? [cwd, ...otherFolders] : [folder];
}
