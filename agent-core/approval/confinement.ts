/** What a command in the sandbox finds of a workspace: its folders writable, what is protected read-only, secrets gone. */

import type { Stats } from "node:fs";
import { cp, lstat, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Bind } from "../host/terminals/sandbox/bwrap.ts";
import type { Confinement } from "../host/terminals/sandbox/sandboxed-backend.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import { nameReason } from "./protected-paths.ts";
import { secretPlaces } from "./secret-paths.ts";

/** Mounts of protected files; a workspace with more of them has those beyond looked through only afterwards. */
const MAX_GUARDS = 300;

/**
 * Looks at the workspace as it is now. What is protected and does not exist yet cannot be kept from being made without
 * leaving something in its place: it is taken away after the command's end, into a folder below `withheld`.
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
      // What was made for it goes again, where it is still empty.
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

/** A git folder is bound onto itself, so that it cannot be moved away with what is read-only in it. */
function bindOf({ path, kind }: GuardedFile): readonly Bind[] {
  if (kind === "link") return [];
  const isRepository = kind === "folder" && basename(path).toLowerCase() === ".git";
  return [{ kind: isRepository ? "writable" : "read-only", path }];
}

/** The folders that a repository lacks and that are protected, inside of `.git`, where nobody sees them. */
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
    notes.push(`${path} is protected and was made in the sandbox: it was taken away, to ${to}`);
  }
  return notes;
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch {
    // Another file system.
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true, force: true });
  }
}

/** The protected files and folders that a workspace has: those of its own folders, not of packages or of git's inside. */

export type GuardedFile = {
  /** Absolute. */
  readonly path: string;
  readonly kind: "folder" | "file" | "link";
  /** The same as long as it is the same file, wherever it is moved. */
  readonly identity: string;
};

/** Folders below a workspace folder that are looked into, at most; and how deep. */
const MAX_FOLDERS = 2_000;
const MAX_DEPTH = 6;
/** Folders of other people's files: what is in them is neither the editor's nor the user's own. */
const FOREIGN = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache"]);
/** What is protected of a repository; the rest of `.git` changes with every commit. */
export const GIT_PARTS = ["config", "hooks", "info", "modules"];

/** `folder` is absolute. A git folder stands for itself, with the parts of it that are protected after it. */
export async function guardedFiles(folder: string): Promise<readonly GuardedFile[]> {
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
