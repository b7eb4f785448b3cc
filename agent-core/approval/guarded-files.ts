/** The protected files and folders that a workspace has: those of its own folders, not of packages or of git's inside. */
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { nameReason } from "./protected-paths.ts";

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
