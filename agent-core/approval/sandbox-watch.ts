/** Watch over the protected paths of a workspace while commands run in the sandbox: what they make is taken away. */
import { readlinkSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import { gitLayout, holdPlaceholders, isFreshRepository, releasePlaceholders } from "./git-folders.ts";
import { type GuardedPath, type GuardedPaths, guardedPaths, identityOf, strangersOf } from "./guarded-paths.ts";

const watches = new WeakMap<CommandScope, SandboxWatch>();

/** Watch over the workspace of a session. */
export function watchOf(scope: CommandScope): SandboxWatch {
  const watch = watches.get(scope) ?? new SandboxWatch(scope);
  watches.set(scope, watch);
  return watch;
}

/** Counts files (absolute paths) that the agent wrote with the user's consent as no work of the sandbox. */
export function acceptWrites(scope: CommandScope, paths: readonly string[]): Promise<void> {
  return watchOf(scope).accept(paths);
}

type Filter = (fresh: readonly string[]) => readonly string[];

/** Its baseline is the state before the oldest command whose processes may still live. */
class SandboxWatch {
  readonly #scope: CommandScope;
  /** Identities that no process of the sandbox made, or that were reported. */
  #known = new Set<string>();
  #gits: readonly string[] = [];
  /** Targets of the protected links: no mount can hold a link. */
  #links = new Map<string, string>();
  readonly #commands = new Map<GuardedPaths, Filter>();
  /** Those that may write in git folders. */
  readonly #opened = new Set<GuardedPaths>();

  constructor(scope: CommandScope) {
    this.#scope = scope;
  }

  /**
   * State before a command that is about to start; `release` must follow. `unexpected` filters the new paths that git may
   * not make in it. `opensGit`: the command may write in git folders.
   */
  async hold(unexpected: Filter, opensGit: boolean): Promise<GuardedPaths> {
    const before = await guardedPaths(this.#scope);
    if (opensGit) {
      this.#opened.add(before);
      for (const git of before.used) holdPlaceholders(git);
    }
    if (this.#commands.size === 0) this.#setBaseline(before);
    this.#commands.set(before, unexpected);
    return before;
  }

  /** No process of the command is left. `before` is the result of `hold`. */
  release(before: GuardedPaths): void {
    this.#commands.delete(before);
    if (this.#opened.delete(before)) for (const git of before.used) releasePlaceholders(git);
  }

  /** See `Confinement.inspect`. `withheld`: folder that gets what is taken away. */
  async inspect(mode: "revert" | "report", withheld: string): Promise<readonly string[]> {
    const fresh = outermost(await this.#fresh());
    for (const { identity } of fresh) this.#known.add(identity);
    let paths: readonly string[] = fresh.map(({ path }) => path);
    for (const unexpected of this.#commands.values()) paths = [...new Set(unexpected(paths))];
    if (mode === "revert") return this.#takeAway(paths, withheld);
    return paths.map((path) => `${path} is protected and was made or replaced while a command ran in the sandbox`);
  }

  /** The user or the agent made these paths (absolute), or all that is there now. */
  async accept(paths?: readonly string[]): Promise<void> {
    const made = paths?.flatMap(withParents).map(identityOf) ?? (await this.#fresh()).map(({ identity }) => identity);
    for (const identity of made) if (identity !== undefined) this.#known.add(identity);
  }

  #setBaseline({ paths, gits }: GuardedPaths): void {
    const all = [...paths, ...strangersOf(gits, this.#scope)];
    this.#known = new Set(all.map(({ identity }) => identity));
    this.#gits = gits;
    this.#links = new Map(all.filter(({ kind }) => kind === "link").map(({ path }) => [path, readlinkSync(path)]));
  }

  async #fresh(): Promise<readonly GuardedPath[]> {
    const { paths, gits } = await guardedPaths(this.#scope, this.#gits);
    const changed = gits.filter((git) => this.#gits.includes(git) || !isFreshRepository(git));
    const all = [...paths, ...strangersOf(changed, this.#scope)];
    return all.filter(({ path, identity }) => !this.#known.has(identity) && !this.#isPointer(path));
  }

  /** True for a `.git` file that leads to a git folder of this workspace, as `git worktree add` makes it. */
  #isPointer(path: string): boolean {
    const layout = basename(path) === ".git" ? gitLayout(dirname(path), this.#scope) : undefined;
    return layout !== undefined && layout.own !== path && this.#gits.includes(layout.common);
  }

  async #takeAway(paths: readonly string[], withheld: string): Promise<readonly string[]> {
    const notes: string[] = [];
    for (const path of paths) {
      const to = join(withheld, `${Date.now()}-${notes.length}`, basename(path));
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await move(path, to);
      const target = this.#links.get(path);
      if (target !== undefined) await symlink(target, path);
      notes.push(`${path} is protected and was made in the sandbox: it was moved to ${to}`);
    }
    return notes;
  }
}

function outermost(files: readonly GuardedPath[]): readonly GuardedPath[] {
  return files.filter(({ path }) => !files.some((other) => other.path !== path && partsBelow(other.path, path)));
}

function withParents(path: string): readonly string[] {
  return dirname(path) === path ? [path] : [path, ...withParents(dirname(path))];
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
