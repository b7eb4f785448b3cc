/** Watch over the protected paths of a workspace while commands run in the sandbox: what they make is taken away. */
import { readlinkSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import {
  forgedIn,
  type GitAccess,
  gitLayout,
  holdPlaceholders,
  isFreshRepository,
  movedTips,
  packObjects,
  putTipsBack,
  releasePlaceholders,
  type Tips,
  tipsOf,
} from "./git-folders.ts";
import {
  changedPackages,
  type Found,
  type GuardedPath,
  type GuardedPaths,
  guarded,
  guardedPaths,
  identityOf,
  searchPackages,
  strangersOf,
} from "./guarded-paths.ts";

/** Changed files that a note names. */
const NAMED_FILES = 5;

const watches = new WeakMap<CommandScope, SandboxWatch>();

/** Watch over the workspace of a session. */
export function watchOf(scope: CommandScope): SandboxWatch {
  const watch = watches.get(scope) ?? new SandboxWatch(scope);
  watches.set(scope, watch);
  return watch;
}

/** A command that is about to start. */
type Held = {
  /** Filters the new paths that git may not make in it. */
  readonly unexpected: (fresh: readonly string[]) => readonly string[];
  /** It may write in git folders: alone, or beside programs that nobody has read. */
  readonly git: GitAccess;
  /** It may install packages. */
  readonly installs: boolean;
};

/** `tips`: those of each git folder, while code that nobody has read runs beside git. */
type Running = Held & { readonly tips: Map<string, Tips> };

/** Its baseline is the state before the oldest command whose processes may still live. */
export class SandboxWatch {
  readonly #scope: CommandScope;
  /** Identities that no process of the sandbox made, or that were reported. */
  #known = new Set<string>();
  #gits: readonly string[] = [];
  /** Targets of the protected links: no mount can hold a link. */
  #links = new Map<string, string>();
  readonly #commands = new Map<GuardedPaths, Running>();
  /** Folders of packages, and repositories in them, until the turn ends. */
  #packaged: Found | undefined;
  /** Time since which commands that install nothing could change packages. Milliseconds. */
  #since: number | undefined;
  readonly #notes: string[] = [];

  constructor(scope: CommandScope) {
    this.#scope = scope;
  }

  /** State before a command that is about to start; `release` must follow. */
  async hold(held: Held): Promise<GuardedPaths> {
    if (held.installs) await this.#checkPackages();
    const before = await this.#guardedPaths();
    const tips = new Map<string, Tips>();
    const isShared = held.git === "commits" || held.git === "all but packs";
    for (const git of isShared ? before.used : []) {
      await packObjects(git);
      tips.set(git, await tipsOf(git));
    }
    if (held.git !== "none") for (const git of before.used) holdPlaceholders(git);
    if (this.#commands.size === 0) this.#setBaseline(before);
    this.#commands.set(before, { ...held, tips });
    this.#restart();
    return before;
  }

  /** No process of the command is left. `before` is the result of `hold`. */
  release(before: GuardedPaths): void {
    const { git: access = "none" } = this.#commands.get(before) ?? {};
    if (access !== "none") for (const git of before.used) releasePlaceholders(git);
    this.#commands.delete(before);
    this.#restart();
  }

  /** Packages count as unchanged until now while a command may install some, or none can change them. */
  #restart(): void {
    const commands = [...this.#commands.values()];
    if (commands.some(({ installs }) => installs)) this.#since = undefined;
    else if (commands.length > 0) this.#since ??= Date.now();
  }

  /** Call it before a command outside the sandbox, and when a turn ends. `withheld`: as for `inspect`. */
  async settle(withheld: string): Promise<readonly string[]> {
    if (this.#since !== undefined) {
      await this.#checkPackages();
      this.#restart();
      const { paths = [], bare = [] } = this.#packaged ?? {};
      // The user may have made all others since the last command.
      const found = await this.#news((path) => [...paths, ...bare].some((top) => partsBelow(top, path) !== undefined));
      this.#notes.push(...(await this.#takeAway(found, withheld)));
    }
    return this.#notes.splice(0);
  }

  /** Guarded paths that are new; the next call leaves them out. */
  async #news(isMeant = (_: string): boolean => true): Promise<readonly GuardedPath[]> {
    const fresh = outermost((await this.#fresh()).filter(({ path }) => isMeant(path)));
    for (const { identity } of fresh) this.#known.add(identity);
    return fresh;
  }

  async #checkPackages(): Promise<void> {
    if (this.#since === undefined) return;
    this.#packaged = await searchPackages(this.#scope);
    const changed = await changedPackages(this.#packaged.packages, this.#since);
    this.#since = undefined;
    if (changed.length === 0) return;
    const rest = changed.length - NAMED_FILES;
    const names = `${changed.slice(0, NAMED_FILES).join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
    this.#notes.push(
      `Installed packages changed while commands ran in the sandbox: ${names}. Your tools and editor run these files. If you do not expect this, install the packages again.`,
    );
  }

  async #guardedPaths(known?: readonly string[]): Promise<GuardedPaths> {
    this.#packaged ??= await searchPackages(this.#scope);
    return guardedPaths(this.#scope, this.#packaged, known);
  }

  /** See `Confinement.inspect`. `withheld`: folder that gets what is taken away. */
  async inspect(mode: "revert" | "report", withheld: string): Promise<readonly string[]> {
    const fresh = await this.#news();
    const bytes = new Map(fresh.map((each) => [each.path, each.bytes]));
    let paths = fresh.map(({ path }) => path);
    for (const { unexpected } of this.#commands.values()) paths = [...new Set(unexpected(paths))];
    const made =
      mode === "revert"
        ? await this.#takeAway(
            paths.map((path) => ({ path, bytes: bytes.get(path) })),
            withheld,
          )
        : paths.map((path) => `${path} is protected and was made or replaced while a command ran in the sandbox`);
    return [...this.#notes.splice(0), ...made, ...(await this.#movedTips(mode))];
  }

  /** Puts branches back that code moved beside a git command which only adds; of others it says what they named. */
  async #movedTips(mode: "revert" | "report"): Promise<readonly string[]> {
    const notes: string[] = [];
    for (const { git: access, tips } of this.#commands.values()) {
      for (const [git, before] of tips) {
        const now = await tipsOf(git);
        const moved = await movedTips(git, before, now);
        const isBack = moved.length > 0 && access === "commits" && mode === "revert";
        if (isBack) await putTipsBack(git, moved, before);
        tips.set(git, isBack ? await tipsOf(git) : now);
        notes.push(...moved.map((name) => movedNote(name, before.get(name), isBack)));
      }
    }
    return notes;
  }

  /** The user or the agent made these paths (absolute), or all that is there now. */
  async accept(paths?: readonly string[]): Promise<void> {
    const made = paths?.flatMap(withParents).map(identityOf) ?? (await this.#fresh()).map(({ identity }) => identity);
    for (const identity of made) if (identity !== undefined) this.#known.add(identity);
    if (paths === undefined) this.#since = undefined;
    this.#restart();
    for (const { tips } of this.#commands.values()) for (const git of tips.keys()) tips.set(git, await tipsOf(git));
  }

  #setBaseline({ paths, gits }: GuardedPaths): void {
    const all = [...paths, ...strangersOf(gits, this.#scope)];
    this.#known = new Set(all.map(({ identity }) => identity));
    this.#gits = gits;
    this.#links = new Map(all.filter(({ kind }) => kind === "link").map(({ path }) => [path, readlinkSync(path)]));
  }

  async #fresh(): Promise<readonly GuardedPath[]> {
    const { paths, gits } = await this.#guardedPaths(this.#gits);
    const changed = gits.filter((git) => this.#gits.includes(git) || !isFreshRepository(git));
    const mixed = [...this.#commands.values()].flatMap(({ tips }) => [...tips.keys()]);
    const forged = (await Promise.all([...new Set(mixed)].map(forgedIn))).flat();
    const all = [...paths, ...strangersOf(changed, this.#scope), ...forged.flatMap(guarded)];
    return all.filter(({ path, identity }) => !this.#known.has(identity) && !this.#isPointer(path));
  }

  /** True for a `.git` file that leads to a git folder of this workspace, as `git worktree add` makes it. */
  #isPointer(path: string): boolean {
    const layout = basename(path) === ".git" ? gitLayout(dirname(path), this.#scope) : undefined;
    return layout !== undefined && layout.own !== path && this.#gits.includes(layout.common);
  }

  async #takeAway(
    paths: readonly { readonly path: string; readonly bytes?: Buffer | undefined }[],
    withheld: string,
  ): Promise<readonly string[]> {
    const notes: string[] = [];
    for (const { path, bytes } of paths) {
      const to = join(withheld, `${Date.now()}-${notes.length}`, basename(path));
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      const named = bytes === undefined ? path : join(dirname(path), `taken-away-${Date.now()}-${notes.length}`);
      if (bytes !== undefined) await rename(bytes, named);
      await move(named, to);
      const target = this.#links.get(path);
      if (target !== undefined) await symlink(target, path);
      notes.push(`${path} is protected and was made in the sandbox: it was moved to ${to}`);
    }
    return notes;
  }
}

function movedNote(name: string, was: string | undefined, isBack: boolean): string {
  const before = was === undefined ? "nothing" : was.trim();
  if (isBack) return `${name} was moved by code that ran beside git: it names ${before} again`;
  return `${name} was moved while code ran beside git: before, it named ${before}`;
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
