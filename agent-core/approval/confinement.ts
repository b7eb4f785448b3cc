/** What a command in the sandbox finds of a workspace: its folders writable, what is protected read-only, secrets gone. */
import { cp, lstat, mkdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Bind } from "../host/terminals/sandbox/bwrap.ts";
import type { Confinement } from "../host/terminals/sandbox/sandboxed-backend.ts";
import { GIT_PARTS, type GuardedFile, guardedFiles } from "./guarded-files.ts";
import { partsBelow } from "./places.ts";
import type { CommandScope } from "./scope.ts";
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
    async inspect(puts) {
      const known = new Set(before.map(({ identity }) => identity));
      const fresh = (await allGuarded(roots)).filter(({ identity }) => !known.has(identity));
      // What was made for it goes again, where it is still empty.
      await Promise.all(made.flat().map((path) => rmdir(path).catch(() => undefined)));
      const paths = outermost(fresh).map(({ path }) => path);
      if (puts === "right") return takeAway(paths, withheld);
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
