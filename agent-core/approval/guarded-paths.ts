/** Search for the paths below workspace folders that a command in the sandbox must not change. */
import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { repositoryOf } from "../host/git-layout.ts";
import { gitSettings } from "../host/read-git.ts";
import { attempt } from "../platform/errors.ts";
import { FolderCache } from "../platform/folder-cache.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";
import { areOfGitFolder, gitFoldersOf, gitLayout, strangersIn } from "./git-folders.ts";
import { isGitName, nameReason } from "./protected-paths.ts";
import { isHiddenFolder } from "./read-places.ts";

/** Folders of a workspace. A search through so many takes a second. */
const MAX_FOLDERS = 200_000;
/** Folders that are searched before other work gets its turn. */
const SLICE = 2_000;
/**
 * Folders of installed packages and caches. Below their first level only repositories count: packages bring settings of
 * their own, which neither the editor nor the user's tools read, and package managers replace them. They hold most folders of
 * a workspace, so they are searched once a turn.
 */
const PACKAGES = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache"]);

export type GuardedPath = {
  /** Absolute. */
  readonly path: string;
  readonly kind: "folder" | "file" | "link";
  /** Device, inode and time of creation: a moved file keeps them. */
  readonly identity: string;
  /** The path where its last name is not UTF-8: then no string names it. */
  readonly bytes?: Buffer;
};

export type GuardedPaths = {
  /** Protected files and folders, without what lies in them, and links into folders that the sandbox hides. */
  readonly paths: readonly GuardedPath[];
  /** Git folders, outer ones first; those of submodules and of other places, too. */
  readonly gits: readonly string[];
  /** Those of work trees; the others are bare repositories, such as test data. */
  readonly used: readonly string[];
};

/**
 * Guarded paths as they are now; in folders of packages they are those that `searchPackages` found. `known`: git folders of an earlier search, which count even if git no longer takes them for
 * such. Rejects with a sentence for people when the search does not end.
 */
export async function guardedPaths(
  scope: CommandScope,
  packaged: Found,
  known: readonly string[] = [],
): Promise<GuardedPaths> {
  const roots = rootsOf(scope);
  const isBelowRoot = (path: string): boolean =>
    roots.some((root) => path !== root && partsBelow(root, path) !== undefined);
  const found = await search(roots, "root", scope);
  const own = roots.flatMap((root) => repositoryOf(root, homeOf(scope)) ?? []);
  const tops = [...own, ...found.repositories, ...packaged.repositories];
  const used = gitFoldersOf(tops, scope);
  const gits = [...new Set([...used, ...found.bare, ...packaged.bare, ...known])];
  const named = own.flatMap((top) => namedBySettings(top, scope)).filter(isBelowRoot);
  const paths = [...new Set([...found.paths, ...packaged.paths, ...named])].flatMap(guarded);
  // A mount cannot hold a link, but its target.
  const targets = paths.filter(({ kind }) => kind === "link").map(({ path }) => scope.resolvePath(path));
  return {
    paths: [...paths, ...targets.filter(isBelowRoot).flatMap(guarded), ...found.unnamed, ...packaged.unnamed],
    gits,
    used,
  };
}

/**
 * A guarded file with another name that is not guarded, as an archive brings it: a mount guards a name, and the file would
 * change with the other one. Undefined without one.
 */
export function sharedFile({ paths, gits }: GuardedPaths): string | undefined {
  const ofGit = gits.flatMap((git) => ["config", "config.worktree", "hooks", "info"].map((name) => join(git, name)));
  const tops = paths.flatMap(({ path }) => (gits.includes(path) ? [] : [path]));
  const files = [...new Set([...tops, ...ofGit].flatMap(filesAt))].map((path) => ({ path, stat: statOf(path) }));
  const shared = files.filter(({ stat }) => stat?.isFile() && stat.nlink > 1);
  return shared.find(({ stat }) => stat && shared.filter((other) => other.stat?.ino === stat.ino).length < stat.nlink)
    ?.path;
}

/** The file, or all files below the folder. */
export function filesAt(path: string): readonly string[] {
  const stat = statOf(path);
  if (stat?.isDirectory() !== true) return stat === undefined ? [] : [path];
  return entriesOf(path).flatMap(({ name }) => filesAt(join(path, name)));
}

/** Settings of git whose value is the path of hooks, or of a file with more settings. They count whoever made them. */
const NAMING = /^(?:core\.(?:hookspath|attributesfile)|include\.path|includeif\..*\.path)$/;

/**
 * Files that the settings of the repository `top` name, absolute: programs that the user's git starts, and more settings; and
 * the folder of hooks.
 */
function namedBySettings(top: string, scope: CommandScope): readonly string[] {
  const layout = gitLayout(top, scope);
  if (layout === undefined) return [];
  const own = (gitSettings(top) ?? []).filter(
    ({ scope: of, key }) => of === "local" || of === "worktree" || NAMING.test(key),
  );
  return own.flatMap(({ key, value }) => {
    const path = value.replace(/^~(?=\/)/, homeOf(scope));
    if (key === "core.hookspath") return [resolve(top, path)];
    const from = key.startsWith("include") ? layout.common : top;
    const words = [path, ...path.split(/[\s"'!;]+/)].filter((word) => word !== "");
    return words.map((word) => resolve(from, word)).filter((file) => statOf(file)?.isFile());
  });
}

/** Paths in git folders that git does not write by itself. */
export function strangersOf(gits: readonly string[], scope: CommandScope): readonly GuardedPath[] {
  return [...new Set(gits.flatMap((git) => strangersIn(git, scope)))].flatMap(guarded);
}

/** Absolute paths. `packages`: folders of packages and caches, outer ones alone. */
export type Found = Readonly<Record<"paths" | "repositories" | "bare" | "packages", string[]>> & {
  /** Folders and links with names that are not UTF-8, which no search can look into. */
  readonly unnamed: GuardedPath[];
};

type Within = "root" | "project" | "packages";

const rootsOf = (scope: CommandScope): readonly string[] => scope.roots.map((root) => scope.resolvePath(root));

/** Repositories in folders of packages, and these folders. Rejects as `guardedPaths` does. */
export async function searchPackages(scope: CommandScope): Promise<Found> {
  const { packages } = await search(rootsOf(scope), "root", scope);
  const inner = packages.flatMap((folder) => entriesOf(folder).map(({ name }) => join(folder, name)));
  return { ...(await search(inner, "packages", scope)), packages };
}

async function search(starts: readonly string[], where: Within, scope: CommandScope): Promise<Found> {
  const found: Found = { paths: [], repositories: [], bare: [], packages: [], unnamed: [] };
  const roots = rootsOf(scope);
  const open = starts.map((path) => ({ path, within: where }));
  let count = 0;
  for (const { path, within } of open) {
    count += 1;
    if (count > MAX_FOLDERS) throw new Error(`the workspace has more than ${MAX_FOLDERS} folders`);
    if (count % SLICE === 0) await nextTick();
    const listing = listings.get(path, () => readListing(path, within, roots));
    const isPackages = within === "project" && PACKAGES.has(basename(path));
    if (isPackages) found.packages.push(path);
    if (listing === NOTHING) continue;
    add(listing, path, found, scope);
    const inner = within === "root" ? "project" : within;
    // Joined by hand: a large workspace has ten thousand folders, and each command searches them twice.
    if (!isPackages) open.push(...listing.folders.map((name) => ({ path: `${path}${sep}${name}`, within: inner })));
  }
  return found;
}

/** Folders of packages that tools and editors load, and which no review shows. */
const INSTALLED = new Set(["node_modules", ".venv", "venv"]);
/** Caches and generated files of tools in `node_modules`, and those of Python. */
const CACHE = /\/node_modules\/\.(?!bin$|pnpm$)[^/]+$|\/__pycache__$/;

/** New folders of installed packages, and files in the others, without caches, that changed since `since` (milliseconds). */
export async function changedPackages(packages: readonly string[], since: number): Promise<readonly string[]> {
  const installed = packages.filter((path) => INSTALLED.has(basename(path)));
  const isNew = (path: string): boolean => (statOf(path)?.birthtimeMs ?? 0) >= since;
  const changed = installed.filter(isNew);
  const open = installed.filter((path) => !isNew(path));
  for (const [at, folder] of open.entries()) {
    if (at % 100 === 99) await nextTick();
    const entries = entriesOf(folder).map((entry) => ({ entry, path: `${folder}${sep}${entry.name}` }));
    for (const { entry, path } of entries.filter((each) => !CACHE.test(each.path))) {
      if (entry.isDirectory()) open.push(path);
      else if ((statOf(path)?.ctimeMs ?? 0) >= since) changed.push(path);
    }
  }
  return changed;
}

function add({ names, links, isBare, hasUnnamed }: Listing, path: string, found: Found, scope: CommandScope): void {
  const { paths, repositories, bare } = found;
  for (const name of names) paths.push(join(path, name));
  // The editor and the user's programs would follow them.
  paths.push(...links.map((name) => join(path, name)).filter((link) => isHiddenFolder(link, scope)));
  if (names.some(isGitName)) repositories.push(path);
  if (isBare) bare.push(path);
  if (hasUnnamed) found.unnamed.push(...unnamedIn(path));
}

/** A change in such a folder makes it another one. */
function unnamedIn(folder: string): readonly GuardedPath[] {
  const entries = readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  return entries
    .filter((entry) => !isUtf8(entry.name) && !entry.isFile())
    .flatMap(({ name }) => {
      const bytes = Buffer.concat([Buffer.from(`${folder}${sep}`), name]);
      const stat = lstatSync(bytes, { throwIfNoEntry: false });
      if (stat === undefined) return [];
      return [{ path: bytes.toString(), bytes, kind: kindOf(stat), identity: `${identity(stat)}:${stat.ctimeMs}` }];
    });
}

/** Names in a folder: protected ones, and those of other folders and links. */
type Listing = Readonly<Record<"names" | "folders" | "links", readonly string[]>> &
  Readonly<Record<"isBare" | "hasUnnamed", boolean>>;

const NOTHING: Listing = { names: [], folders: [], links: [], isBare: false, hasUnnamed: false };
/** Stands for bytes that are not UTF-8. */
const REPLACEMENT = "\uFFFD";
const listings = new FolderCache<Listing>();

function readListing(folder: string, within: Within, roots: readonly string[]): Listing {
  const entries = entriesOf(folder);
  const parents = within === "root" ? [] : [basename(folder)];
  const isProtected = (name: string): boolean =>
    within === "packages" ? isGitName(name) : nameReason([...parents, name]) !== undefined;
  const names = entries.map(({ name }) => name).filter(isProtected);
  const isBare = areOfGitFolder(entries.map(({ name }) => name));
  const folders = entries
    .filter((entry) => entry.isDirectory() && !names.includes(entry.name))
    .map(({ name }) => name)
    .filter((name) => !isBare || statOf(join(folder, name, ".git")) !== undefined);
  const links = entries
    .filter((entry) => entry.isSymbolicLink() && !names.includes(entry.name))
    .map(({ name }) => name)
    .filter((name) => leadsOut(folder, name, roots));
  const hasUnnamed = entries.some((entry) => entry.name.includes(REPLACEMENT) && !entry.isFile());
  const isPlain = [names, folders, links].every(({ length }) => length === 0) && !isBare && !hasUnnamed;
  return isPlain ? NOTHING : { names, folders, links, isBare, hasUnnamed };
}

/** By its text alone: a workspace may have ten thousand links. One that leads to another link counts where that one does. */
function leadsOut(folder: string, name: string, roots: readonly string[]): boolean {
  const target = attempt(() => resolve(folder, readlinkSync(join(folder, name))));
  return target !== undefined && roots.every((root) => partsBelow(root, target) === undefined);
}

/** The path as it is now; nothing for a missing one. */
export function guarded(path: string): readonly GuardedPath[] {
  const stat = statOf(path);
  return stat === undefined ? [] : [{ path, kind: kindOf(stat), identity: identity(stat) }];
}

/** Device, inode and time of creation of a path; undefined for a missing one. */
export function identityOf(path: string): string | undefined {
  const stat = statOf(path);
  return stat && identity(stat);
}

function identity({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

function kindOf(stat: Stats): GuardedPath["kind"] {
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "folder" : "file";
}
