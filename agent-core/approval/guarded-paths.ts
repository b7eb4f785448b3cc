/** Search for the paths below workspace folders that a command in the sandbox must not change. */
import { readlinkSync, type Stats } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { gitSettings } from "../host/read-git.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";
import { FolderCache } from "./folder-cache.ts";
import { areOfGitFolder, gitFoldersOf, gitLayout, repositoryOf, strangersIn } from "./git-folders.ts";
import { isGitName, nameReason } from "./protected-paths.ts";
import { isHiddenFolder } from "./read-places.ts";

/** Folders of a workspace. A search through so many takes a second. */
const MAX_FOLDERS = 200_000;
/** Folders that are searched before other work gets its turn. */
const SLICE = 2_000;
/**
 * Folders of installed packages and caches. Below their first level only repositories count: packages bring settings of
 * their own, which neither the editor nor the user's tools read, and package managers replace them.
 */
const PACKAGES = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache"]);

export type GuardedPath = {
  /** Absolute. */
  readonly path: string;
  readonly kind: "folder" | "file" | "link";
  /** Device, inode and time of creation: a moved file keeps them. */
  readonly identity: string;
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
 * Guarded paths as they are now. `known`: git folders of an earlier search, which count even if git no longer takes them for
 * such. Rejects with a sentence for people when the search does not end.
 */
export async function guardedPaths(scope: CommandScope, known: readonly string[] = []): Promise<GuardedPaths> {
  const roots = scope.roots.map((root) => scope.resolvePath(root));
  const isBelowRoot = (path: string): boolean =>
    roots.some((root) => path !== root && partsBelow(root, path) !== undefined);
  const found = await search(roots, scope);
  const own = roots.flatMap((root) => repositoryOf(root, homeOf(scope)) ?? []);
  const tops = [...own, ...found.repositories];
  const used = gitFoldersOf(tops, scope);
  const gits = [...new Set([...used, ...found.bare, ...known])];
  const named = own.flatMap((top) => namedBySettings(top, scope)).filter(isBelowRoot);
  const paths = [...new Set([...found.paths, ...named])].flatMap(guarded);
  // A mount cannot hold a link, but its target.
  const targets = paths.filter(({ kind }) => kind === "link").map(({ path }) => scope.resolvePath(path));
  return {
    paths: [...paths, ...targets.filter(isBelowRoot).flatMap(guarded)],
    gits,
    used,
  };
}

/** Settings of git whose value is the path of hooks, or of a file with more settings. */
const NAMING = /^(?:core\.(?:hookspath|attributesfile)|include\.path|includeif\..*\.path)$/;
const settings = new FolderCache<readonly string[]>();

/** Paths that the settings of the repository `top` name, absolute. git is asked again when its settings change. */
function namedBySettings(top: string, scope: CommandScope): readonly string[] {
  const layout = gitLayout(top, scope);
  if (layout === undefined) return [];
  return settings.get(join(layout.common, "config"), () => {
    const values = (gitSettings(top) ?? []).filter(({ key }) => NAMING.test(key));
    return values.map(({ key, value }) => resolve(key.startsWith("core.") ? top : layout.common, value));
  });
}

/** Paths in git folders that git does not write by itself. */
export function strangersOf(gits: readonly string[], scope: CommandScope): readonly GuardedPath[] {
  return [...new Set(gits.flatMap((git) => strangersIn(git, scope)))].flatMap(guarded);
}

/** Absolute paths. */
type Found = { readonly paths: string[]; readonly repositories: string[]; readonly bare: string[] };

type Within = "root" | "project" | "packages";

async function search(roots: readonly string[], scope: CommandScope): Promise<Found> {
  const found: Found = { paths: [], repositories: [], bare: [] };
  const open = roots.map((path): { path: string; within: Within } => ({ path, within: "root" }));
  let count = 0;
  for (const { path, within } of open) {
    count += 1;
    if (count > MAX_FOLDERS) throw new Error(`the workspace has more than ${MAX_FOLDERS} folders`);
    if (count % SLICE === 0) await nextTick();
    const listing = listings.get(path, () => readListing(path, within, roots));
    if (listing === NOTHING) continue;
    add(listing, path, found, scope);
    const isPackage = within === "packages" || (within === "project" && PACKAGES.has(basename(path)));
    // Joined by hand: a large workspace has ten thousand folders, and each command searches them twice.
    for (const name of listing.folders)
      open.push({ path: `${path}${sep}${name}`, within: isPackage ? "packages" : "project" });
  }
  return found;
}

function add({ names, links, isBare }: Listing, path: string, found: Found, scope: CommandScope): void {
  const { paths, repositories, bare } = found;
  for (const name of names) paths.push(join(path, name));
  // The editor and the user's programs would follow them.
  paths.push(...links.map((name) => join(path, name)).filter((link) => isHiddenFolder(link, scope)));
  if (names.some(isGitName)) repositories.push(path);
  if (isBare) bare.push(path);
}

/** Names in a folder: protected ones, and those of other folders and links. */
type Listing = Readonly<Record<"names" | "folders" | "links", readonly string[]>> & { readonly isBare: boolean };

const NOTHING: Listing = { names: [], folders: [], links: [], isBare: false };
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
  const isPlain = [names, folders, links].every(({ length }) => length === 0) && !isBare;
  return isPlain ? NOTHING : { names, folders, links, isBare };
}

/** By its text alone: a workspace may have ten thousand links. One that leads to another link counts where that one does. */
function leadsOut(folder: string, name: string, roots: readonly string[]): boolean {
  try {
    const target = resolve(folder, readlinkSync(join(folder, name)));
    return roots.every((root) => partsBelow(root, target) === undefined);
  } catch {
    return false; // it is gone
  }
}

function guarded(path: string): readonly GuardedPath[] {
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
