/** Paths as models mean them, and the folders of one workspace. */
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize, sep } from "node:path";
import { distinctNames } from "../platform/names.ts";
import { pathBelow } from "../platform/paths.ts";

/** Places that a path of the model may start at. */
export type MeantPlaces = {
  readonly cwd: string;
  readonly otherFolders?: readonly string[];
  /** Folder that commands in the sandbox see in place of the folders of temporary files. */
  readonly temporaryFolder?: () => string | undefined;
};

/** Arguments that hold one path. */
const PATH_FIELDS = ["path", "image", "workdir"] as const;

/**
 * Arguments of a call with the paths that the model means. A path that exists is meant as it is. `lib/a.ts` may start at the
 * further workspace folder `lib`, as VS Code labels its files, `/tmp/a` is where commands in the sandbox have it, and a name may
 * look like the only such name of its folder.
 */
export function withMeantPaths(input: unknown, places: MeantPlaces): unknown {
  if (typeof input !== "object" || input === null) return input;
  const fields = new Map(Object.entries(input));
  const changed = PATH_FIELDS.flatMap((field) => {
    const path = fields.get(field);
    const meant = typeof path === "string" ? meantPath(path, places) : undefined;
    return meant === undefined ? [] : [[field, meant] as const];
  });
  return changed.length === 0 ? input : { ...input, ...Object.fromEntries(changed) };
}

/** Undefined when the path is meant as it is. */
function meantPath(path: string, { cwd, otherFolders = [], temporaryFolder }: MeantPlaces): string | undefined {
  const absolute = isAbsolute(path) ? normalize(path) : join(cwd, path);
  if (path.includes("://") || path.startsWith("~") || existsSync(absolute)) return undefined;
  if (!isAbsolute(path)) return inOtherFolder(path, cwd, otherFolders) ?? lookAlike(absolute);
  const isOwn = [cwd, ...otherFolders].some((folder) => pathBelow(folder, absolute) !== undefined);
  const inner = isOwn
    ? undefined
    : temporaryPlaces()
        .map((place) => pathBelow(place, absolute))
        .find((below) => below);
  const folder = inner === undefined ? undefined : temporaryFolder?.();
  return folder === undefined || inner === undefined ? lookAlike(absolute) : join(folder, inner);
}

/** Folders of temporary files, which the sandbox replaces by one of its own. */
export function temporaryPlaces(): readonly string[] {
  return process.platform === "win32" ? [] : [...new Set(["/tmp", "/var/tmp", tmpdir()])];
}

/** A name in the working folder comes first. Of folders with the same name, the path names a parent, too. */
function inOtherFolder(path: string, cwd: string, otherFolders: readonly string[]): string | undefined {
  const [root = ""] = normalize(path).split(sep);
  if (otherFolders.length === 0 || existsSync(join(cwd, root))) return undefined;
  const folders = [...otherFolders, cwd];
  const written = normalize(path).split(sep).join("/");
  const index = distinctNames(folders).findIndex((name) => `${written}/`.startsWith(`${name}/`));
  const [folder, name] = [folders[index], distinctNames(folders)[index]];
  return folder === undefined || name === undefined ? undefined : join(folder, written.slice(name.length));
}

/** The only path that looks like this one, such as a screenshot of macOS with a special blank. Undefined for none or several. */
function lookAlike(path: string): string | undefined {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const folder = existsSync(parent) ? parent : lookAlike(parent);
  const wanted = looksOf(basename(path));
  const [name, other] = folder === undefined ? [] : namesIn(folder).filter((each) => looksOf(each) === wanted);
  return folder === undefined || name === undefined || other !== undefined ? undefined : join(folder, name);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** One form for characters that look the same: composed letters, blanks, quotes and dashes. */
function looksOf(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\u2018\u2019\u201a\u201b\u2032\u02bc]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-");
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
