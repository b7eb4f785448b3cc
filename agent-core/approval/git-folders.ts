/** Git folders as the sandbox shows them: git writes its everyday names; all other names are read-only, or taken away. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Bind } from "../host/terminals/sandbox/sandboxed-run.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import { FolderCache } from "./folder-cache.ts";

/**
 * Names at the top of a git folder that git writes in everyday work, with their lock files. Upper case alone is no sign:
 * on a file system that ignores case, `CONFIG` is `config`.
 */
const WRITTEN_NAME =
  "(?:objects|refs|logs|reftable|worktrees|rebase-merge|rebase-apply|sequencer|rr-cache|lfs|description|HEAD|[A-Z]+(?:_[A-Z]+)+|index|index[.]stash[.][0-9]+|next-index-[0-9]+|sharedindex[.][0-9a-f]+|packed-refs(?:[.]new)?|shallow|gc[.](?:pid|log))(?:[.]lock)?";
const WRITTEN = new RegExp(`^${WRITTEN_NAME}$`);
/** Folders that a git folder gets when it lacks them, so that they can be mounted read-only. */
const PLACEHOLDERS = ["hooks", "info", "modules"];
/** Files of linked worktrees that lead git to other folders. */
const POINTERS = ["gitdir", "commondir", "locked"];
/** Folders that git reads settings, programs and addresses from. */
const READ = ["hooks", "info", "modules", "remotes", "branches"];
/** Files that lead git to objects of other repositories. */
const ALTERNATES = ["alternates", "http-alternates"];
/** Folders of a git folder whose links git would follow outside of it. */
const FOLLOWED = ["refs", "logs"];

const MAX_POINTER_BYTES = 100_000;
/** Levels of folders in the names of branches. */
const MAX_DEPTH = 50;

type Names = {
  readonly names: readonly string[];
  readonly links: readonly string[];
  readonly folders: readonly string[];
};

const listings = new FolderCache<Names>();

function listed(folder: string): Names {
  return listings.get(folder, () => {
    const entries = entriesOf(folder);
    return {
      names: entries.map(({ name }) => name),
      links: entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name),
      folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    };
  });
}

/** True for the names in a folder that git takes for a repository or for the git folder of a linked worktree. */
export function areOfGitFolder(names: readonly string[]): boolean {
  return (
    names.includes("HEAD") && (names.includes("commondir") || (names.includes("objects") && names.includes("refs")))
  );
}

/** Git folder of a work tree. `common` differs in a linked worktree: it has what all worktrees share. */
export type GitLayout = { readonly own: string; readonly common: string };

/**
 * Git folder of the work tree `top` (absolute, real). Undefined without one, and for a `.git` file that leads into a folder
 * which does not belong to this work tree: the sandbox would open it.
 */
export function gitLayout(top: string, scope: CommandScope): GitLayout | undefined {
  const git = join(top, ".git");
  const target = statOf(git)?.isFile() ? /^gitdir: (.+?)\r?\n*$/.exec(textOf(git) ?? "")?.[1] : git;
  if (target === undefined) return undefined;
  const own = scope.resolvePath(resolve(top, target));
  if (!areOfGitFolder(listed(own).names)) return undefined;
  if (target === git) return { own, common: own };
  const common = commonOf(own, scope);
  if (common !== own) {
    const back = scope.resolvePath(resolve(own, textOf(join(own, "gitdir"))?.trim() ?? ""));
    return dirname(own) === join(common, "worktrees") && back === git ? { own, common } : undefined;
  }
  return belongsTo(own, top) ? { own, common } : undefined;
}

function commonOf(own: string, scope: CommandScope): string {
  const pointer = textOf(join(own, "commondir"))?.trim();
  return pointer === undefined ? own : scope.resolvePath(resolve(own, pointer));
}

/** True for a git folder beside or above the work tree, one of a submodule, and a separate one. */
function belongsTo(own: string, top: string): boolean {
  if (basename(own) === ".git") return false;
  if (partsBelow(dirname(own), top) !== undefined) return true;
  for (let at = dirname(top); ; at = dirname(at)) {
    if (partsBelow(join(at, ".git", "modules"), own) !== undefined) return true;
    if (at === dirname(at)) break;
  }
  const config = textOf(join(own, "config")) ?? "";
  return /^\s*bare\s*=\s*false\s*$/im.test(config) && !/^\s*worktree\s*=/im.test(config);
}

/** Nearest folder from `folder` upwards with a `.git`, below the home; undefined without one. */
export function repositoryOf(folder: string, home: string): string | undefined {
  if (folder === home || dirname(folder) === folder) return undefined;
  return statOf(join(folder, ".git")) === undefined ? repositoryOf(dirname(folder), home) : folder;
}

/** Git folders (real paths) of `tops`, and those of the submodules in them; outer ones precede inner ones. */
export function gitFoldersOf(tops: readonly string[], scope: CommandScope): readonly string[] {
  const layouts = tops.map((top) => gitLayout(top, scope)).filter((layout) => layout !== undefined);
  const folders = layouts.flatMap(({ own, common }) => [common, own]);
  return [...new Set(folders.flatMap((folder) => [folder, ...submodulesIn(join(folder, "modules"))]))].toSorted();
}

/** Git folders below `modules`; the name of a submodule may have slashes. */
function submodulesIn(folder: string): readonly string[] {
  return listed(folder).folders.flatMap((name) => {
    const path = join(folder, name);
    return areOfGitFolder(listed(path).names) ? [path, ...submodulesIn(join(path, "modules"))] : submodulesIn(path);
  });
}

/** Access of a command to git folders. */
export type GitAccess = "none" | "all but packs" | "all";

/**
 * Binds of a git folder: git writes its everyday names, and the rest is read-only. `opened`: all git folders that commands
 * may change. The folder itself is mounted, so that no command moves it away with its read-only parts.
 */
export function gitBinds(
  git: string,
  { access, opened }: { readonly access: GitAccess; readonly opened: ReadonlySet<string> },
  scope: CommandScope,
): readonly Bind[] {
  if (access === "none") {
    const trees = workTreesIn(git, scope).map((name): Bind => ({ kind: "writable", path: join(git, name) }));
    return [{ kind: "read-only", path: git }, ...trees];
  }
  const { links } = listed(git);
  const parts = foreignNames(git, scope).filter((name) => !links.includes(name));
  const alternates = ALTERNATES.map((name) => join("objects", "info", name));
  const packs = access === "all" ? [] : [join("objects", "pack")];
  const paths = [...parts, ...alternates, ...packs].map((name) => join(git, name)).filter((path) => existsSync(path));
  // A work tree outside the workspace looks missing in the sandbox, and git would remove its part.
  const others = worktreesOf(git).filter((path) => !opened.has(path));
  return [
    { kind: "writable", path: git, names: WRITTEN_NAME },
    ...[...paths, ...others].map((path): Bind => ({ kind: "read-only", path })),
  ];
}

/** Names that git does not write by itself, without the work trees in the folder of a bare repository. */
function foreignNames(git: string, scope: CommandScope): readonly string[] {
  const trees = workTreesIn(git, scope);
  return listed(git).names.filter((name) => !WRITTEN.test(name) && !trees.includes(name));
}

/** Names of work trees in the folder of a bare repository. */
function workTreesIn(git: string, scope: CommandScope): readonly string[] {
  const { folders } = listed(git);
  return folders.filter((name) => !READ.includes(name) && gitLayout(join(git, name), scope)?.common === git);
}

function worktreesOf(git: string): readonly string[] {
  const folder = join(git, "worktrees");
  return listed(folder).folders.map((name) => join(folder, name));
}

/** Git folders that hold a file of ours named `commondir`, with the number of running commands that need it. */
const held = new Map<string, number>();
/** Git takes a folder that names itself for the common folder as one without that file. An empty file would stop git. */
const ITSELF = ".\n";

/**
 * Makes the parts that git tolerates in a git folder, so that they can be mounted, until `releasePlaceholders`. The folders
 * among them stay: another command may have mounted them. Returns true when it made one.
 */
export function holdPlaceholders(git: string): boolean {
  held.set(git, (held.get(git) ?? 0) + 1);
  const missing = PLACEHOLDERS.map((name) => join(git, name)).filter((folder) => !existsSync(folder));
  return [...missing.map((path) => made(() => mkdirSync(path))), makeCommondir(git)].includes(true);
}

/** Only mounts need it, and a read-only file of that name already directs git. */
function makeCommondir(git: string): boolean {
  if (process.platform !== "linux") return false;
  return made(() => writeFileSync(join(git, "commondir"), ITSELF, { flag: "wx" }));
}

function made(make: () => void): boolean {
  try {
    make();
    return true;
  } catch {
    return false; // it exists, or the disk is read-only
  }
}

/** Call it once for each `holdPlaceholders`. */
export function releasePlaceholders(git: string): void {
  const left = (held.get(git) ?? 1) - 1;
  if (left > 0) held.set(git, left);
  else held.delete(git);
  const path = join(git, "commondir");
  if (left <= 0 && textOf(path) === ITSELF) made(() => rmSync(path));
}

/**
 * Paths in a git folder by which git would run, read or write something elsewhere: names that git does not write by itself,
 * and links.
 */
export function strangersIn(git: string, scope: CommandScope): readonly string[] {
  const { links } = listed(git);
  const known = isWorktree(git, dirname(dirname(git)), scope) ? POINTERS : [];
  const top = [...links, ...foreignNames(git, scope)].filter((name) => !known.includes(name) || links.includes(name));
  const alternates = ALTERNATES.map((name) => join("objects", "info", name));
  return [
    ...[...top, ...alternates].map((name) => join(git, name)),
    ...linksBelow(join(git, "objects"), 1),
    ...FOLLOWED.flatMap((name) => linksBelow(join(git, name), MAX_DEPTH)),
    ...worktreesOf(git).filter((path) => !isWorktree(path, git, scope)),
  ];
}

const PLAIN_CONFIG =
  /^(?:\s*(?:[#;].*|\[core\]|\[remote "[\w./-]+"\]|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)\s*=\s*\w+|url = [\w./][\w./:@-]*|fetch = [\w+/:*]+)?\r?\n)*$/;

/** True for a repository as `git init` and `git clone` make it, which runs nothing. */
export function isFreshRepository(git: string): boolean {
  const { names, links } = listed(git);
  const inner = READ.flatMap((name) => listed(join(git, name)).names);
  const isPlain = names.every((name) => WRITTEN.test(name) || name === "config" || READ.includes(name));
  const isEmpty = inner.every((name) => name.endsWith(".sample") || name === "exclude");
  return isPlain && isEmpty && links.length === 0 && PLAIN_CONFIG.test(textOf(join(git, "config")) ?? "");
}

function linksBelow(folder: string, depth: number): readonly string[] {
  const { links, folders } = listed(folder);
  const inner = depth === 0 ? [] : folders.flatMap((name) => linksBelow(join(folder, name), depth - 1));
  return [...links.map((name) => join(folder, name)), ...inner];
}

/** True for the folder of a worktree as `git worktree add` makes it, with a work tree in the workspace. */
function isWorktree(path: string, git: string, scope: CommandScope): boolean {
  const place = textOf(join(path, "gitdir"))?.trim();
  if (place === undefined || commonOf(path, scope) !== git) return false;
  const file = scope.resolvePath(resolve(path, place));
  const isOpen = scope.roots.some((root) => partsBelow(scope.resolvePath(root), file) !== undefined);
  return isOpen && gitLayout(dirname(file), scope)?.own === path;
}

/** Text of a small file; undefined for anything else, such as a pipe, whose reader would wait. */
function textOf(path: string): string | undefined {
  const stat = statOf(path);
  if (!stat?.isFile() || stat.size > MAX_POINTER_BYTES) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // unreadable
  }
}
