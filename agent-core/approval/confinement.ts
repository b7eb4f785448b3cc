/** Confinement of a command in the sandbox: workspace folders writable, protected files read-only, secrets hidden. */

import type { Stats } from "node:fs";
import { cp, lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Bind } from "../host/terminals/sandbox/bwrap.ts";
import type { Confinement } from "../host/terminals/sandbox/sandboxed-backend.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import { nameReason } from "./protected-paths.ts";
import { secretPlaces } from "./secret-paths.ts";

/** Mounts of protected files. Files beyond this number are only inspected after the command. */
const MAX_GUARDS = 300;

/**
 * Confinement for the workspace as it is now. A protected file that does not exist cannot be mounted read-only: a
 * command may make it, and `inspect` then moves it into a folder below `withheld`.
 */
export async function confine(scope: CommandScope, withheld: string): Promise<Confinement> {
  const roots = scope.roots.map((root) => scope.resolvePath(root));
  const made = await Promise.all(roots.map(makeGitParts));
  const before = await allGuarded(roots);
  return {
    binds: [
      ...(await hidden(scope)),
      ...roots.map((path): Bind => ({ kind: "writable", path })),
      ...before.slice(0, MAX_GUARDS).flatMap(bindOf),
    ],
    async inspect(mode) {
      const known = new Set(before.map(({ identity }) => identity));
      const fresh = (await allGuarded(roots)).filter(({ identity }) => !known.has(identity));
      // Removes the folders that were made for the mounts, where they are still empty.
      await Promise.all(made.flat().map((path) => rmdir(path).catch(() => undefined)));
      const paths = outermost(fresh).map(({ path }) => path);
      if (mode === "revert") return takeAway(paths, withheld);
      return paths.map((path) => `${path} is protected and was made or replaced while a command ran in the sandbox`);
    },
  };
}

async function allGuarded(roots: readonly string[]): Promise<readonly GuardedFile[]> {
  return (await Promise.all(roots.map(guardedFiles))).flat();
}

/** A git folder is mounted onto itself: a command cannot move it away together with its read-only files. */
function bindOf({ path, kind }: GuardedFile): readonly Bind[] {
  if (kind === "link") return [];
  const isRepository = kind === "folder" && basename(path).toLowerCase() === ".git";
  return [{ kind: isRepository ? "writable" : "read-only", path }];
}

/** Makes the protected folders that the `.git` of a repository lacks, so that they can be mounted. */
async function makeGitParts(root: string): Promise<readonly string[]> {
  const git = join(root, ".git");
  if (!(await lstat(git).catch(() => undefined))?.isDirectory()) return [];
  const folders = GIT_PARTS.filter((part) => part !== "config").map((part) => join(git, part));
  const made = await Promise.all(
    folders.map((path) =>
      mkdir(path).then(
        () => path,
        () => undefined,
      ),
    ),
  );
  return made.filter((path) => path !== undefined);
}

async function hidden(scope: CommandScope): Promise<readonly Bind[]> {
  const places = [...new Set(secretPlaces(scope).map((place) => scope.resolvePath(place)))];
  const stats = await Promise.all(places.map((path) => lstat(path).catch(() => undefined)));
  return places.flatMap((path, index): Bind[] => {
    const stat = stats[index];
    return stat === undefined ? [] : [{ kind: "hidden", path, what: stat.isDirectory() ? "folder" : "file" }];
  });
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
  /** Device and inode: a moved file keeps them. */
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
async function guardedFiles(folder: string): Promise<readonly GuardedFile[]> {
  const found: GuardedFile[] = [];
  let layer: readonly (readonly string[])[] = [[]];
  let folders = 0;
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0 && folders < MAX_FOLDERS; depth += 1) {
    folders += layer.length;
    const looked = await Promise.all(layer.map((parts) => lookInto(folder, parts)));
    found.push(...looked.flatMap((look) => look.guarded));
    layer = looked.flatMap((look) => look.folders).slice(0, MAX_FOLDERS - folders);
  }
  return found;
}

type Look = { readonly guarded: readonly GuardedFile[]; readonly folders: readonly (readonly string[])[] };

async function lookInto(root: string, parts: readonly string[]): Promise<Look> {
  const entries = await readdir(join(root, ...parts), { withFileTypes: true }).catch(() => []);
  const names = entries.filter(({ name }) => nameReason([...parts, name]) !== undefined).map(({ name }) => name);
  const guarded = await Promise.all(names.map((name) => guard(join(root, ...parts, name), name)));
  const folders = entries.filter((entry) => entry.isDirectory() && !FOREIGN.has(entry.name));
  return {
    guarded: guarded.flat(),
    folders: folders.filter(({ name }) => !names.includes(name)).map(({ name }) => [...parts, name]),
  };
}

async function guard(path: string, name: string): Promise<readonly GuardedFile[]> {
  const paths = name.toLowerCase() === ".git" ? [path, ...GIT_PARTS.map((part) => join(path, part))] : [path];
  const stats = await Promise.all(paths.map((each) => lstat(each).catch(() => undefined)));
  return stats.flatMap((stat, index) => (stat === undefined ? [] : [guarded(paths[index] ?? path, stat)]));
}

function guarded(path: string, stat: Stats): GuardedFile {
  return { path, kind: kindOf(stat), identity: `${stat.dev}:${stat.ino}` };
}

function kindOf(stat: Stats): GuardedFile["kind"] {
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "folder" : "file";
}
