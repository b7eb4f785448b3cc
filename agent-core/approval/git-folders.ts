/** Git folders as the sandbox shows them: git writes its everyday names; all other names are read-only, or taken away. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInflate } from "node:zlib";
import { repositoryOf } from "../host/git-layout.ts";
import { runGit } from "../host/run-git.ts";
import type { Bind } from "../host/terminals/sandbox/sandboxed-run.ts";
import { attempt } from "../platform/errors.ts";
import { FolderCache } from "../platform/folder-cache.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";
import { readScript } from "./project-scripts.ts";

/**
 * Names at the top of a git folder that git writes in everyday work, with their lock files. Upper case alone is no sign:
 * on a file system that ignores case, `CONFIG` is `config`.
 */
const WRITTEN_NAME =
  "(?:objects|refs|logs|reftable|worktrees|rebase-merge|rebase-apply|sequencer|rr-cache|lfs|description|HEAD|[A-Z]+(?:_[A-Z]+)+|index|index[.]stash[.][0-9]+|next-index-[0-9]+|sharedindex[.][0-9a-f]+|packed-refs(?:[.]new)?|gc[.](?:pid|log))(?:[.]lock)?";
const WRITTEN = new RegExp(`^${WRITTEN_NAME}$`);
/** Folders that a git folder gets when it lacks them, so that they can be mounted read-only. */
const PLACEHOLDERS = ["hooks", "info", "modules"];
/** Files of linked worktrees that lead git to other folders. */
const POINTERS = ["gitdir", "commondir", "locked"];
/** Folders that git reads settings, programs and addresses from. */
const READ = ["hooks", "info", "modules", "remotes", "branches"];
/** Files that lead git to objects of other repositories. */
const ALTERNATES = ["alternates", "http-alternates"];
/** Folders with the steps that git takes when the user continues. */
const UNFINISHED = ["rebase-merge", "rebase-apply", "sequencer"];
/** Folders of a git folder whose links git would follow outside of it. */
const FOLLOWED = ["refs", "logs"];
/** Parts of a git folder that the tool repo links. */
const LINKED = "objects refs logs hooks info config packed-refs rr-cache svn shallow worktrees".split(" ");

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
 * Git folder of the work tree `top` (absolute, real). Undefined without one, and for a `.git` file or link that leads into a
 * folder which does not belong to this work tree: the sandbox would open it.
 */
export function gitLayout(top: string, scope: CommandScope): GitLayout | undefined {
  const git = join(top, ".git");
  const target = statOf(git)?.isFile() ? /^gitdir: (.+?)\r?\n*$/.exec(readScript(git) ?? "")?.[1] : git;
  if (target === undefined) return undefined;
  const own = scope.resolvePath(resolve(top, target));
  if (!areOfGitFolder(listed(own).names)) return undefined;
  if (own === git) return { own, common: own };
  const common = commonOf(own, scope);
  if (common !== own) {
    const back = scope.resolvePath(resolve(own, readScript(join(own, "gitdir"))?.trim() ?? ""));
    return dirname(own) === join(common, "worktrees") && back === git ? { own, common } : undefined;
  }
  return belongsTo(own, top, scope) ? { own, common } : undefined;
}

function commonOf(own: string, scope: CommandScope): string {
  const pointer = readScript(join(own, "commondir"))?.trim();
  return pointer === undefined ? own : scope.resolvePath(resolve(own, pointer));
}

/** True for a git folder beside or above the work tree, one of a submodule, and a separate one. */
function belongsTo(own: string, top: string, scope: CommandScope): boolean {
  if (basename(own) === ".git") return false;
  if (partsBelow(dirname(own), top) !== undefined) return true;
  let at = dirname(top);
  while (at !== dirname(at) && statOf(join(at, ".git")) === undefined) at = dirname(at);
  const around = gitLayout(at, scope);
  if (around && partsBelow(join(around.own, "modules"), own) !== undefined) return true;
  const config = readScript(join(own, "config")) ?? "";
  return /^\s*bare\s*=\s*false\s*$/im.test(config) && !/^\s*worktree\s*=/im.test(config);
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

/**
 * Access of a command to git folders: `all` is that of git alone. Beside code that nobody has read, packs are read-only, and
 * `commits` is for git that only adds and commits: branches may then only grow.
 */
export type GitAccess = "none" | "commits" | "all but packs" | "all";

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
  const states = access === "commits" ? UNFINISHED : [];
  const paths = [...parts, ...alternates, ...packs, ...states]
    .map((name) => join(git, name))
    .filter((path) => existsSync(path));
  // A work tree outside the workspace looks missing in the sandbox, and git would remove its part.
  const others = worktreesOf(git).filter((path) => !opened.has(path));
  return [
    { kind: "writable", path: git, names: WRITTEN_NAME },
    ...[...paths, ...others].map((path): Bind => ({ kind: "read-only", path })),
  ];
}

/** Real places of parts that are links. */
function linksOf(git: string, scope: CommandScope): readonly string[] {
  return LINKED.filter((name) => listed(git).links.includes(name)).map((name) => scope.resolvePath(join(git, name)));
}

/** Those in the store of the tool repo. */
export function linkedParts(git: string, scope: CommandScope): readonly string[] {
  return linksOf(git, scope).filter((path) => isInStore(path, git));
}

/** True for a place in the store of the tool repo around the git folder. */
function isInStore(path: string, git: string): boolean {
  const at = path.indexOf("/.repo/");
  return at >= 0 && partsBelow(path.slice(0, at), git) !== undefined;
}

/**
 * Places outside the workspace from which git would take parts or objects for the repository in `top`. An archive can name any
 * place, so no command in the sandbox sees them, and git asks.
 */
export function foreignParts(top: string, scope: CommandScope): readonly string[] {
  const layout = gitLayout(top, scope);
  if (layout === undefined) {
    const git = join(top, ".git");
    if (statOf(git)?.isDirectory() !== true || areOfGitFolder(listed(git).names)) return [git];
    // git looks for a repository above a folder that is none.
    const above = repositoryOf(dirname(top), homeOf(scope));
    return above === undefined ? [] : foreignParts(above, scope);
  }
  const isInside = (path: string): boolean =>
    [layout.common, ...scope.roots].some((root) => partsBelow(scope.resolvePath(root), path) !== undefined);
  const stores = [join(layout.common, "objects")];
  const isForeign = (path: string): boolean => !isInside(path) && !isInStore(path, layout.common);
  const foreign = linksOf(layout.common, scope).filter(isForeign);
  // Borrowed objects may borrow in turn.
  for (const store of stores) {
    const alternates = alternatesOf(store);
    if (alternates === undefined) foreign.push(store);
    const named = (alternates ?? []).map((line) => scope.resolvePath(resolve(store, line)));
    foreign.push(...named.filter(isForeign));
    stores.push(...named.filter((path) => isInside(path) && !stores.includes(path)));
  }
  return foreign;
}

/** Stores that a store of objects names; undefined where nobody knows them. */
function alternatesOf(objects: string): readonly string[] | undefined {
  const file = join(objects, "info", "alternates");
  if (statOf(file) === undefined) return [];
  const lines = readScript(file)?.split("\n");
  return lines?.some((line) => line.startsWith('"')) ? undefined : lines?.filter((line) => line !== "");
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
 * among them stay: another command may have mounted them. A part may exist, or the disk be read-only.
 */
export function holdPlaceholders(git: string): void {
  held.set(git, (held.get(git) ?? 0) + 1);
  for (const name of PLACEHOLDERS) attempt(() => mkdirSync(join(git, name)));
  // Only mounts need it, and a read-only file of that name already directs git.
  if (process.platform === "linux") attempt(() => writeFileSync(join(git, "commondir"), ITSELF, { flag: "wx" }));
}

/** Call it once for each `holdPlaceholders`. */
export function releasePlaceholders(git: string): void {
  const left = (held.get(git) ?? 1) - 1;
  if (left > 0) held.set(git, left);
  else held.delete(git);
  const path = join(git, "commondir");
  if (left <= 0 && readScript(path) === ITSELF) attempt(() => rmSync(path));
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
    ...[join(git, "rebase-merge", "git-rebase-todo")].filter((path) =>
      /^\s*(?:x|exec)\s/m.test(readScript(path) ?? ""),
    ),
  ];
}

const PLAIN_CONFIG =
  /^(?:\s*(?:[#;].*|\[core\]|\[remote "[\w./-]+"\]|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)\s*=\s*\w+|url = [\w./][\w./:@-]*|fetch = [\w+/:*]+)?\r?\n)*$/;

/** True for a repository as `git init` and `git clone` make it, which runs nothing. */
export function isFreshRepository(git: string): boolean {
  const { names, links } = listed(git);
  const inner = READ.flatMap((name) => listed(join(git, name)).names);
  const isPlain = names.every((name) => WRITTEN.test(name) || ["config", "shallow", ...READ].includes(name));
  const isEmpty = inner.every((name) => name.endsWith(".sample") || name === "exclude");
  return isPlain && isEmpty && links.length === 0 && PLAIN_CONFIG.test(readScript(join(git, "config")) ?? "");
}

function linksBelow(folder: string, depth: number): readonly string[] {
  const { links, folders } = listed(folder);
  const inner = depth === 0 ? [] : folders.flatMap((name) => linksBelow(join(folder, name), depth - 1));
  return [...links.map((name) => join(folder, name)), ...inner];
}

/** True for the folder of a worktree as `git worktree add` makes it, with a work tree in the workspace. */
function isWorktree(path: string, git: string, scope: CommandScope): boolean {
  const place = readScript(join(path, "gitdir"))?.trim();
  if (place === undefined || commonOf(path, scope) !== git) return false;
  const file = scope.resolvePath(resolve(path, place));
  const isOpen = scope.roots.some((root) => partsBelow(scope.resolvePath(root), file) !== undefined);
  return isOpen && gitLayout(dirname(file), scope)?.own === path;
}

/*
 * Objects of git beside unread code: those that are there go into packs, which the sandbox mounts read-only, and git prefers
 * packs to other copies. Each object that comes must be what its name says.
 */

/** Loose objects of a git folder, by their absolute paths. */
function looseIn(git: string): readonly string[] {
  const folders = entriesOf(join(git, "objects")).filter(({ name }) => /^[0-9a-f]{2}$/.test(name));
  return folders.flatMap(({ name: start }) => {
    const folder = join(git, "objects", start);
    return entriesOf(folder)
      .filter(({ name }) => /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/.test(name))
      .map(({ name }) => join(folder, name));
  });
}

const nameOf = (path: string): string => basename(dirname(path)) + basename(path);

/** Packs the loose objects of a git folder. Rejects with a sentence for people when git cannot. */
export async function packObjects(git: string): Promise<void> {
  const loose = looseIn(git);
  if (loose.length === 0) return;
  const run = runIn(git);
  const input = `${loose.map(nameOf).join("\n")}\n`;
  const pack = ["pack-objects", "--quiet", "--window=0", join(git, "objects", "pack", "pack")];
  const packed = await runGit(pack, { ...run, input });
  const pruned = packed.exitCode === 0 ? await runGit(["prune-packed", "--quiet"], run) : packed;
  if (pruned.exitCode !== 0)
    throw new Error(`git could not secure the objects of ${git} (${pruned.stderr.trim()}); git alone can run`);
}

/** Loose objects that are not what their names say. */
export async function forgedIn(git: string): Promise<readonly string[]> {
  const forged: string[] = [];
  for (const path of looseIn(git)) if ((await hashOf(path)) !== nameOf(path)) forged.push(path);
  return forged;
}

/** Branches, tags and HEAD of a git folder: what each one names. */
export type Tips = ReadonlyMap<string, string>;

export async function tipsOf(git: string): Promise<Tips> {
  const { stdout } = await runGit(["for-each-ref", "--format=%(refname) %(objectname)"], runIn(git));
  const lines = stdout
    .toString()
    .split("\n")
    .map((line) => line.split(" "));
  const head = readScript(join(git, "HEAD")) ?? "";
  return new Map([["HEAD", head], ...lines.flatMap(([name = "", id]) => (id ? [[name, id] as const] : []))]);
}

/** Names of `before` that name something else now, and those by which git sees other objects; a branch may grow. */
export async function movedTips(git: string, before: Tips, now: Tips): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const [name, id] of before) {
    const current = now.get(name);
    if (current === id) continue;
    const grows = name.startsWith("refs/heads/") && current !== undefined;
    const asks = ["merge-base", "--is-ancestor", id, current ?? ""];
    if (!grows || (await runGit(asks, runIn(git))).exitCode !== 0) moved.push(name);
  }
  return [...moved, ...[...now.keys()].filter((name) => name.startsWith("refs/replace/") && !before.has(name))];
}

/** Lets the names say again what they said. Rejects with a sentence for people. */
export async function putTipsBack(git: string, names: readonly string[], before: Tips): Promise<void> {
  const lines = names
    .filter((name) => name !== "HEAD")
    .map((name) => {
      const id = before.get(name);
      return id === undefined ? `delete ${name}\n` : `update ${name} ${id}\n`;
    });
  const run = { ...runIn(git), input: lines.join("") };
  if (lines.length > 0) mkdirSync(join(git, "refs"), { recursive: true }); // a link in its place was taken away
  const { exitCode, stderr } =
    lines.length === 0 ? { exitCode: 0, stderr: "" } : await runGit(["update-ref", "--stdin"], run);
  if (exitCode !== 0) throw new Error(`git could not put back the branches of ${git}: ${stderr.trim()}`);
  if (names.includes("HEAD")) writeFileSync(join(git, "HEAD"), before.get("HEAD") ?? "");
}

const runIn = (git: string) => ({ cwd: git, folders: { top: undefined, own: git, common: git } });

async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash(nameOf(path).length === 40 ? "sha1" : "sha256");
  const source = createReadStream(path);
  const plain = createInflate();
  source.once("error", (error) => plain.destroy(error));
  try {
    for await (const piece of source.pipe(plain)) hash.update(piece as Buffer);
    return hash.digest("hex");
  } catch {
    return undefined; // no object, or one that went away meanwhile
  }
}
