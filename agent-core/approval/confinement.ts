/** Confinement of a command in the sandbox: workspace writable, protected files read-only, homes and secrets hidden. */

import { accessSync, constants, existsSync, mkdirSync, readFileSync, type Stats } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Confinement } from "../host/terminals/sandbox/sandboxed-backend.ts";
import type { Bind } from "../host/terminals/sandbox/sandboxed-run.ts";
import type { SandboxKind } from "../host/terminals/terminals.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";
import { FolderCache } from "./folder-cache.ts";
import { nameReason } from "./protected-paths.ts";
import { secretsBelow } from "./reached-secrets.ts";
import { HOMES, PRIVATE_CACHES, toolchainPlaces } from "./read-places.ts";
import { secretPlaces } from "./secret-paths.ts";

/** Mounts of protected files. Files beyond this number are only inspected after the command. */
const MAX_GUARDS = 300;

/** Folders of Hermes' own for confinements. */
export type ConfinementFolders = {
  /** Gets the protected files that a command made. */
  readonly withheld: string;
  /** Gets the private copies of caches. */
  readonly caches: string;
  /** Long outputs of the session's tools, which the results ask the model to read. */
  readonly outputs: string;
};

/**
 * Confinement for the workspace as it is now. A protected file that does not exist cannot be mounted read-only: a
 * command may make it, and `inspect` then moves it into a folder below `withheld`.
 */
export async function confine(
  scope: CommandScope,
  { withheld, caches, outputs }: ConfinementFolders,
  kind: SandboxKind = "isolated",
): Promise<Confinement> {
  const roots = scope.roots.map((root) => scope.resolvePath(root));
  const gits = roots.map((root) => gitFolderOf(root, scope)).filter((git) => git !== undefined);
  for (const git of new Set(gits)) makeGitParts(git);
  const before = allGuarded(roots);
  const toolchains = toolchainPlaces(scope).filter((path) => existsSync(path));
  const secrets = kind === "reading" ? roots.flatMap((root) => secretsBelow(root, scope)).flatMap(hide) : [];
  const hidden = hiddenSecrets(toolchains, scope);
  return {
    fingerprint: JSON.stringify([before, ...[...hidden, ...secrets].map(({ path }) => [path, identityOf(path)])]),
    binds: [
      ...hiddenHomes(scope),
      ...toolchainBinds(toolchains, scope, caches),
      ...(existsSync(outputs) ? [{ kind: "read-only", path: outputs } as const] : []),
      ...hidden,
      ...roots.flatMap((root) => repositoryBinds(root, scope)),
      ...roots.map((path): Bind => ({ kind: "writable", path })),
      ...before.slice(0, MAX_GUARDS).flatMap(bindOf),
      ...secrets,
      ...scope.roots.flatMap((root) => linksIn(root, scope)),
    ],
    async inspect(mode) {
      const known = new Set(before.map(({ identity }) => identity));
      const fresh = allGuarded(roots).filter(({ identity }) => !known.has(identity));
      const paths = outermost(fresh).map(({ path }) => path);
      if (mode === "revert") return takeAway(paths, withheld);
      return paths.map((path) => `${path} is protected and was made or replaced while a command ran in the sandbox`);
    },
  };
}

/** Links in the path of a folder: commands use the path by which the user opened it. */
function linksIn(path: string, scope: CommandScope): readonly Bind[] {
  const folder = dirname(path);
  if (folder === path) return [];
  const own: readonly Bind[] = statOf(path)?.isSymbolicLink()
    ? [{ kind: "link", path: join(scope.resolvePath(folder), basename(path)), target: scope.resolvePath(path) }]
    : [];
  return [...linksIn(folder, scope), ...own];
}

function allGuarded(roots: readonly string[]): readonly GuardedFile[] {
  return roots.flatMap(guardedFiles);
}

/** A git folder is mounted onto itself: a command cannot move it away together with its read-only files. */
function bindOf({ path, kind }: GuardedFile): readonly Bind[] {
  if (kind === "link") return [];
  const isRepository = kind === "folder" && basename(path).toLowerCase() === ".git";
  return [{ kind: isRepository ? "writable" : "read-only", path }];
}

/**
 * Makes the protected folders that a git folder lacks, so that they can be mounted. They stay: another command may have
 * mounted them.
 */
function makeGitParts(git: string): void {
  const folders = GIT_PARTS.filter((part) => part !== "config").map((part) => join(git, part));
  for (const path of folders.filter((folder) => !existsSync(folder))) {
    try {
      mkdirSync(path);
    } catch {
      // A read-only disk, or another command made it.
    }
  }
}

/** The user's home, those of others, and our own. */
function hiddenHomes(scope: CommandScope): readonly Bind[] {
  const homes = [...new Set([...HOMES, scope.home, scope.hermesHome].map((path) => scope.resolvePath(path)))];
  const outer = homes.filter((path) => !homes.some((other) => other !== path && partsBelow(other, path)));
  return outer.flatMap(hide);
}

/** Toolchains are read-only. A program that needs its cache gets a private one, because programs run what is in it. */
function toolchainBinds(places: readonly string[], scope: CommandScope, caches: string): readonly Bind[] {
  const home = homeOf(scope);
  const privates = PRIVATE_CACHES.map((name) => join(home, name)).filter(existsSync);
  const shown = places.map((path) => scope.resolvePath(path));
  const outer = [...new Set(shown)]
    .filter((path) => !privates.includes(path))
    .filter((path, _, all) => !all.some((other) => other !== path && partsBelow(other, path)));
  return [
    ...outer.map((path): Bind => ({ kind: "read-only", path })),
    ...privates.map((path): Bind => {
      const from = join(caches, basename(path));
      mkdirSync(from, { recursive: true, mode: 0o700 });
      return { kind: "writable", path, from };
    }),
  ];
}

/** Secrets that no hidden home covers: in toolchains, and those of the system. */
function hiddenSecrets(toolchains: readonly string[], scope: CommandScope): readonly Bind[] {
  const home = homeOf(scope);
  const hermesHome = scope.resolvePath(scope.hermesHome);
  const visible = secretPlaces(scope).filter(
    (path) =>
      path !== hermesHome &&
      (!partsBelow(home, path) || toolchains.some((place) => partsBelow(place, path))) &&
      isReadable(path),
  );
  return [...new Set(visible.map((path) => scope.resolvePath(path)))].flatMap(hide);
}

function hide(path: string): readonly Bind[] {
  const stat = statOf(path);
  return stat === undefined ? [] : [{ kind: "hidden", path, what: stat.isDirectory() ? "folder" : "file" }];
}

/** A file that the user may not read needs no mount. */
function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The repository around a workspace folder is read-only, except for its git folder; that of a linked worktree lies
 * elsewhere. git's settings and hooks stay read-only.
 */
function repositoryBinds(root: string, scope: CommandScope): readonly Bind[] {
  const top = repositoryOf(root, homeOf(scope));
  const git = gitFolderOf(root, scope);
  const around: readonly Bind[] = top === undefined || top === root ? [] : [{ kind: "read-only", path: top }];
  if (git === undefined || git === join(root, ".git")) return around;
  const parts = GIT_PARTS.map((part) => join(git, part)).filter((path) => existsSync(path));
  return [...around, { kind: "writable", path: git }, ...parts.map((path): Bind => ({ kind: "read-only", path }))];
}

/** Nearest folder from `folder` upwards with a `.git`, below the home; undefined without one. */
function repositoryOf(folder: string, home: string): string | undefined {
  if (folder === home || dirname(folder) === folder) return undefined;
  return existsSync(join(folder, ".git")) ? folder : repositoryOf(dirname(folder), home);
}

/** Git folder with the settings; undefined without one, and for a worktree that its repository does not list. */
function gitFolderOf(root: string, scope: CommandScope): string | undefined {
  const top = repositoryOf(root, homeOf(scope));
  if (top === undefined) return undefined;
  const git = join(top, ".git");
  if (statOf(git)?.isDirectory()) return git;
  try {
    const worktree = /^gitdir: (.+)\n?$/.exec(readFileSync(git, "utf8"))?.[1] ?? "";
    const common = /^(.*\/\.git)\/worktrees\/[^/]+$/.exec(scope.resolvePath(resolve(top, worktree)))?.[1];
    const back = readFileSync(join(resolve(top, worktree), "gitdir"), "utf8").trim();
    return common !== undefined && scope.resolvePath(back) === git ? common : undefined;
  } catch {
    return undefined; // a broken worktree
  }
}

function outermost(files: readonly GuardedFile[]): readonly GuardedFile[] {
  return files.filter(({ path }) => !files.some((other) => other.path !== path && partsBelow(other.path, path)));
}

async function takeAway(paths: readonly string[], withheld: string): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const path of paths) {
    const to = join(withheld, `${Date.now()}-${notes.length}`, basename(path));
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await move(path, to);
    notes.push(`${path} is protected and was made in the sandbox: it was moved to ${to}`);
  }
  return notes;
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch {
    // `rename` fails across file systems.
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
}

type GuardedFile = {
  /** Absolute. */
  readonly path: string;
  readonly kind: "folder" | "file" | "link";
  /** Device, inode and time of creation: a moved file keeps them. */
  readonly identity: string;
};

/** Limits of the search below a workspace folder: folders read, and levels. */
const MAX_FOLDERS = 2_000;
const MAX_DEPTH = 6;
/** Folders of installed packages and caches: their files configure neither the editor nor the user's tools. */
const FOREIGN = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache"]);
/** Protected parts of `.git`; the others change with every commit. */
const GIT_PARTS = ["config", "hooks", "info", "modules"];

/** Protected files and folders below `folder` (absolute), without installed packages. A `.git` precedes its parts. */
function guardedFiles(folder: string): readonly GuardedFile[] {
  const found: GuardedFile[] = [];
  let layer: readonly (readonly string[])[] = [[]];
  let folders = 0;
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0 && folders < MAX_FOLDERS; depth += 1) {
    folders += layer.length;
    const looked = layer.map((parts) => lookInto(folder, parts));
    found.push(...looked.flatMap((look) => look.guarded));
    layer = looked.flatMap((look) => look.folders).slice(0, MAX_FOLDERS - folders);
  }
  return found;
}

type Look = { readonly guarded: readonly GuardedFile[]; readonly folders: readonly (readonly string[])[] };

function lookInto(root: string, parts: readonly string[]): Look {
  const folder = join(root, ...parts);
  const { names, folders } = listings.get(folder, () => readListing(folder, parts));
  return {
    guarded: names.flatMap((name) => guard(join(folder, name), name)),
    folders: folders.map((name) => [...parts, name]),
  };
}

/** Names in a folder: protected ones, and those of other folders. */
type Listing = { readonly names: readonly string[]; readonly folders: readonly string[] };

const listings = new FolderCache<Listing>();

function readListing(folder: string, parts: readonly string[]): Listing {
  const entries = entriesOf(folder);
  const names = entries.filter(({ name }) => nameReason([...parts, name]) !== undefined).map(({ name }) => name);
  const folders = entries.filter((entry) => entry.isDirectory() && !FOREIGN.has(entry.name)).map(({ name }) => name);
  return { names, folders: folders.filter((name) => !names.includes(name)) };
}

function guard(path: string, name: string): readonly GuardedFile[] {
  const paths = name.toLowerCase() === ".git" ? [path, ...GIT_PARTS.map((part) => join(path, part))] : [path];
  return paths.flatMap((each) => {
    const stat = statOf(each);
    return stat === undefined ? [] : [guarded(each, stat)];
  });
}

function guarded(path: string, stat: Stats): GuardedFile {
  return { path, kind: kindOf(stat), identity: identity(stat) };
}

function identityOf(path: string): string | undefined {
  const stat = statOf(path);
  return stat && identity(stat);
}

function identity({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

function kindOf(stat: Stats): GuardedFile["kind"] {
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "folder" : "file";
}
