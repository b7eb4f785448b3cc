/** Paths as models mean them, and the folders of one workspace. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../platform/errors.ts";
import { distinctNames } from "../platform/names.ts";
import { withoutEntities } from "../platform/one-line.ts";
import { entriesOf, pathBelow } from "../platform/paths.ts";

/** Places that a path of the model may start at. */
export type MeantPlaces = {
  readonly cwd: string;
  readonly otherFolders?: readonly string[];
  /** Folder that commands in the sandbox see in place of the folders of temporary files. */
  readonly temporaryFolder?: () => string | undefined;
};

/** Arguments that hold one path. */
const PATH_FIELDS = ["path", "image", "workdir"] as const;
/** Paths in a patch of several files, and the head of a move behind the path of the file that moves. */
const PATCHED = /^(\*\*\* (?:(?:Add|Delete|Update) File|Move to): )(.+)$(?=(\s+\*\*\* Move to:)?)/gm;

/**
 * Arguments of a call with the paths that the model means. A path that exists is meant as it is. `lib/a.ts` may start at the
 * further workspace folder `lib`, as VS Code labels its files, and `/tmp/a` is where commands in the sandbox have it. Where a file
 * is read or its old text must match, a name may look like the only such name of its folder, or be written as links, diffs and
 * shells write it. A call that creates, replaces, moves or deletes a file has no such check, so its path is no guess.
 */
export function withMeantPaths(input: unknown, places: MeantPlaces): unknown {
  if (typeof input !== "object" || input === null) return input;
  const fields = new Map(Object.entries(input));
  const changed = PATH_FIELDS.flatMap((field) => {
    const path = fields.get(field);
    if (typeof path !== "string") return [];
    // A search in all of `/tmp` is one where commands write.
    const isTemporary = field === "path" && temporaryPlaces().includes(path.replace(/(?<=.)\/$/, ""));
    const temporary = isTemporary ? places.temporaryFolder?.() : undefined;
    const meant = temporary ?? meantPath(path, places, fields.has("content"));
    return meant === path ? [] : [[field, meant] as const];
  });
  const patch: unknown = fields.get("patch");
  const patched =
    typeof patch === "string"
      ? patch.replaceAll(PATCHED, (_, head: string, path: string, move: string | undefined) => {
          return head + meantPath(path, places, !head.includes("Update") || move !== undefined);
        })
      : patch;
  if (changed.length === 0 && patched === patch) return input;
  return { ...input, ...Object.fromEntries(changed), ...(patched !== patch && { patch: patched }) };
}

function meantPath(written: string, places: MeantPlaces, isExact: boolean): string {
  const { cwd, otherFolders = [], temporaryFolder } = places;
  if (written.startsWith("~") || existsSync(absoluteIn(written, cwd))) return written;
  const path = unwrapped(written);
  const absolute = absoluteIn(path, cwd);
  const found = isExact ? [absolute].find((each) => existsSync(each)) : existingPath(written, cwd);
  if (found !== undefined || /^~|:\/\//.test(path)) return found ?? path;
  const readings = isExact ? [] : [absolute, ...readingsOf(written, cwd)];
  const alike = () => FORMS.flatMap((form) => readings.flatMap((each) => lookAlike(each, form) ?? [])).at(0) ?? path;
  if (!isAbsolute(path)) return inOtherFolder(path, cwd, otherFolders) ?? alike();
  const isOwn = [cwd, ...otherFolders].some((folder) => pathBelow(folder, absolute) !== undefined);
  const [inner] = isOwn ? [] : temporaryPlaces().flatMap((place) => pathBelow(place, absolute) || []);
  const folder = inner === undefined ? undefined : temporaryFolder?.();
  return folder === undefined || inner === undefined ? alike() : join(folder, inner);
}

/** Address of a file, also for an editor, such as `vscode://file/a.ts:3`. */
const ADDRESS = /^(?:file:(?:\/\/(?:localhost(?=\/))?)?|[a-z][\w+.-]*:\/\/file(?=\/))/i;

/** The path in quotes or of an address. */
function unwrapped(written: string): string {
  const text = written.replace(/^[\r\n]*(["'`]?)(.+?)\1[\r\n]*$/s, "$2");
  return ADDRESS.test(text) ? (pathOfUri(text) ?? unescaped(text.replace(ADDRESS, ""))) : text;
}

/** Undefined for a file URL of another operating system, and for none. `#`, `?` and `%` may be written as they are. */
export function pathOfUri(uri: string): string | undefined {
  const written = uri
    .replace(ADDRESS, "file://")
    .replace(/%(?![0-9A-Fa-f]{2})/g, "%25")
    .replaceAll("#", "%23")
    .replaceAll("?", "%3F");
  return attempt(() => fileURLToPath(written));
}

/** Path in a parameter of an editor's address. */
const PARAMETER = /^(?!https?:)[a-z][\w+.-]*:.*?[?&](?:path|file|url)=([^&#]+)/is;

function absoluteIn(path: string, cwd: string): string {
  return isAbsolute(path) ? normalize(path) : join(cwd, path);
}

/** Quotes, stars of Markdown, angle brackets, or a link of Markdown around a path. */
const WRAPPED = /^(?:\[[^\]]*\]\((.+)\)|<(.+)>|["'`*“]+(.+?)["'`*”]+|\((.+)\))[,:;.]?$/s;
/** Lines behind a path, as compilers, editors, GitHub and people write them. */
const LINES = /(?::{1,2}L?\d+(?:[-:]L?\d+)*|#L?\d+.*|\(\d+, ?\d+\)|,? \(?(?:lines? |L)\d+(?:-L?\d+)?\)?)$/;

const ofOctal = (bytes: string): Buffer =>
  Buffer.from((bytes.match(/\d+/g) ?? []).map((byte) => Number.parseInt(byte, 8)));

function unescaped(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text;
}

/** Ways to write a path that are not its own letters, the outer ones first. Each undoes one, and leaves other texts. */
const WRITINGS: readonly ((text: string) => string)[] = [
  (text) => text.trim().replace(WRAPPED, "$1$2$3$4"),
  withoutEntities,
  (text) => text.replace(/^@/, ""),
  // Editors write `idea://open?file=/a.ts&line=3` and `file:///a.ts?line=3`.
  (text) => PARAMETER.exec(text)?.[1] ?? text.replace(/\?[\w.-]+=.*$/s, ""),
  (text) => text.replace(LINES, ""),
  (text) => text.replace(WRAPPED, "$1$2$3$4"),
  // Some clients do not escape their addresses, so the letters as they are come second.
  (text) => pathOfUri(text) ?? text,
  (text) => text.replace(ADDRESS, "").replace(/^\/(?=[a-z]:)/i, ""),
  // git writes the bytes of letters beyond ASCII so.
  (text) => text.replaceAll(/(?:\\[0-3][0-7]{2})+/g, (bytes) => ofOctal(bytes).toString()),
  (text) => text.replace(/^[ab]\//, ""),
  (text) => text.replaceAll(/\\(?=[\s()[\]&'"])/g, ""),
  (text) => text.replaceAll("\\", "/"),
  unescaped,
  unescaped,
];
/** Combinations of them that are looked for. */
const MAX_READINGS = 64;

/** The first existing path that a path may stand for, as it is written before all others. */
export function existingPath(path: string, cwd: string): string | undefined {
  return [path, ...readingsOf(path, cwd)].find((reading) => isAbsolute(reading) && existsSync(reading));
}

/**
 * Absolute paths that a path may stand for: wrapped, mentioned, with lines, from a diff, a page, git or a shell, as an address, or
 * from the root.
 */
function readingsOf(path: string, cwd: string): readonly string[] {
  let texts = [path];
  for (const undo of WRITINGS) texts = [...new Set([...texts, ...texts.map(undo)])].slice(0, MAX_READINGS);
  const places = texts.map((text) => absoluteIn(text, cwd));
  // A path may repeat the working folder or its name, or begin at it as at the root.
  const named = texts.filter((text) => text.startsWith(`${basename(cwd)}/`)).map((text) => join(dirname(cwd), text));
  const others = [...texts.flatMap((text) => [join("/", text), join(cwd, text)]), ...named];
  return [...new Set([...places, ...others])].filter((place) => place !== normalize(path) && place !== cwd);
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

/** The only path with this form of names, such as a screenshot of macOS with a special blank. Undefined for none or several. */
function lookAlike(path: string, form: (name: string) => string): string | undefined {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const folder = existsSync(parent) ? parent : lookAlike(parent, form);
  const wanted = form(basename(path));
  const [name, other] =
    folder === undefined ? [] : entriesOf(folder).flatMap(({ name: each }) => (form(each) === wanted ? [each] : []));
  return folder === undefined || name === undefined || other !== undefined ? undefined : join(folder, name);
}

/** Forms of names that are compared, the nearest first. Some models put blanks between Chinese and Latin letters. */
const FORMS: readonly ((name: string) => string)[] = [
  looksOf,
  (name) => looksOf(name).toLowerCase(),
  (name) => looksOf(name).toLowerCase().replaceAll(" ", ""),
];

/** One form for characters that look the same: composed letters, blanks, quotes and dashes. */
function looksOf(name: string): string {
  return name
    .replaceAll(/[\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .normalize("NFKC")
    .replaceAll(/\p{Cf}|\p{Variation_Selector}/gu, "")
    .replaceAll(/\s+/g, " ")
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
