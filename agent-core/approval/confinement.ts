/**
 * Confinement of a command in the sandbox: protected files are read-only, homes and secrets are hidden, and the workspace is
 * writable unless the command only reads.
 */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { repositoryOf } from "../host/git-layout.ts";
import { layerOver, placeIn } from "../host/terminals/sandbox/layer.ts";
import type { ConfinedCommand, Confinement } from "../host/terminals/sandbox/sandboxed-backend.ts";
import type { Bind } from "../host/terminals/sandbox/sandboxed-run.ts";
import { attempt } from "../platform/errors.ts";
import { statOf } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";
import { type CommandVerdict, judgeCommand } from "./command-verdict.ts";
import { type GitAccess, gitBinds, linkedParts } from "./git-folders.ts";
import { gitGuardBinds, openedFiles } from "./git-guard.ts";
import { type GuardedPaths, identityOf, sharedFile } from "./guarded-paths.ts";
import { secretsBelow } from "./reached-secrets.ts";
import { homesOf, PRIVATE_CACHES, toolchainPlaces } from "./read-places.ts";
import { watchOf } from "./sandbox-watch.ts";
import { secretPlaces } from "./secret-paths.ts";

/** Mounts of protected files. The time that bwrap takes grows with their square: a second for so many. */
const MAX_GUARDS = 300;

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
 * command may make it, and `inspect` then moves it into a folder below `withheld`. Rejects with a sentence for people when
 * the workspace has more protected files than the sandbox can mount.
 */
export async function confine(
  scope: CommandScope,
  { withheld, caches, outputs }: ConfinementFolders,
  command: ConfinedCommand,
): Promise<Confinement> {
  const { kind, writable } = command;
  const watch = watchOf(scope);
  const opened = openedFiles(writable);
  const verdict = judgeCommand(command.command, { ...scope, cwd: command.folder });
  const access = kind === "reading" ? "none" : gitAccess(verdict, writable);
  // Package managers need the network, and git may track the packages.
  const installs = kind !== "isolated" || access === "all";
  const before = await watch.hold({ unexpected: opened.unexpected, git: access, installs });
  try {
    const guards = guardBinds(before, access, scope);
    const shared = sharedFile(before);
    if (shared) throw new Error(`${shared} is protected, and it is a hard link to a file with another name`);
    const toolchains = toolchainPlaces(scope).filter((path) => existsSync(path));
    const roots = scope.roots.map((root) => scope.resolvePath(root));
    const secrets = kind !== "isolated" ? roots.flatMap((root) => secretsBelow(root, scope)).flatMap(hide) : [];
    const hidden = hiddenSecrets(toolchains, scope);
    // Mounting a layer takes 10 ms: a command that is known to write in no toolchain goes without.
    const base = verdict.level === "safe" && !verdict.runsProject ? undefined : homeOf(scope);
    const tools = await toolchainBinds(toolchains, scope, { caches, hidden, base, isFetching: kind === "networked" });
    const asKind = kind === "reading" ? readOnly : (bind: Bind): Bind => bind;
    return {
      fingerprint: JSON.stringify([before, ...[...hidden, ...secrets].map(({ path }) => [path, identityOf(path)])]),
      binds: [
        ...hiddenHomes(scope),
        ...tools.binds,
        ...(existsSync(outputs) ? [{ kind: "read-only", path: outputs } as const] : []),
        ...hidden.filter(({ path }) => tools.layer?.hidden.includes(path) !== true),
        ...roots.flatMap((root) => around(root, scope)),
        ...guards.outside.map(asKind),
        ...roots.map((path): Bind => asKind({ kind: "writable", path })),
        ...guards.inside.flatMap((bind) => opened.bindsOf(bind.path, bind)).map(asKind),
        ...secrets,
        ...gitGuardBinds(caches, scope, writable),
        ...scope.roots.flatMap((root) => linksIn(root, scope)),
      ],
      layer: tools.layer,
      inspect: (mode) => watch.inspect(mode, withheld),
      accept: () => watch.accept(),
      end: () => watch.release(before),
    };
  } catch (error) {
    watch.release(before);
    throw error;
  }
}

/** Only a command that calls git writes git folders. */
function gitAccess({ parts, runsProject, isFullyParsed }: CommandVerdict, writable: readonly string[]): GitAccess {
  const writers = parts.filter(({ program, readOnly }) => program === "git" && !readOnly);
  if (writers.length === 0 && writable.length === 0) return "none";
  const isAlone = parts.every(({ program, readOnly }) => program === "git" || readOnly);
  if (isAlone && isFullyParsed && !runsProject) return "all";
  const commits = writers.every(({ words = [] }) => ADDS.test(words.join(" ")));
  return isFullyParsed && writable.length === 0 && commits ? "commits" : "all but packs";
}

/** Commands of git that add to a branch at most. */
const ADDS = /^git (?:-c \S+ )*(?:add|commit)\b(?!.* --(?:am|fix|sq))/;

function readOnly(bind: Bind): Bind {
  return bind.kind === "writable" ? { kind: "read-only", path: bind.path } : bind;
}

/** Mounts that guard what is there. Those below the workspace folders come after the folders themselves. */
function guardBinds({ paths, gits }: GuardedPaths, access: GitAccess, scope: CommandScope) {
  const roots = scope.roots.map((root) => scope.resolvePath(root));
  const opened = new Set(gits);
  const isInside = (path: string): boolean => roots.some((root) => partsBelow(root, path) !== undefined);
  const linked = gits.flatMap((git) => linkedParts(git, scope)).filter((path) => !isInside(path));
  const files = paths.filter(({ path, kind, bytes }) => kind !== "link" && !bytes && !opened.has(path));
  const binds = [
    ...gits.flatMap((git) => gitBinds(git, { access, opened }, scope)),
    ...[...files.map(({ path }) => path), ...linked].map((path): Bind => ({ kind: "read-only", path })),
  ];
  if (binds.length > MAX_GUARDS) {
    throw new Error(`the workspace has ${binds.length} protected files and folders, and it can guard ${MAX_GUARDS}`);
  }
  return { outside: binds.filter(({ path }) => !isInside(path)), inside: binds.filter(({ path }) => isInside(path)) };
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

/** The user's home, those of others, and our own. */
function hiddenHomes(scope: CommandScope): readonly Bind[] {
  const homes = [...homesOf(scope), scope.resolvePath(scope.hermesHome)];
  const outer = homes.filter((path) => !homes.some((other) => other !== path && partsBelow(other, path)));
  return outer.flatMap(hide);
}

/** `base`: folder whose toolchains get a layer. */
type ToolFolders = { caches: string; hidden: readonly Bind[]; base: string | undefined; isFetching: boolean };

/**
 * Programs write into toolchains, for this session alone. A command with the network gets a layer of its own, which others
 * see: it must not run what they wrote. Caches of many programs are private folders, which begin empty.
 */
async function toolchainBinds(places: readonly string[], scope: CommandScope, folders: ToolFolders) {
  const { caches, hidden, base = "", isFetching } = folders;
  const privates = PRIVATE_CACHES.map((name) => join(homeOf(scope), name));
  const shown = places.map((path) => scope.resolvePath(path));
  const outer = [...new Set(shown)]
    .filter((path) => !privates.includes(path))
    .filter((path, _, all) => !all.some((other) => other !== path && partsBelow(other, path)));
  // A layer does not show what is mounted below its base.
  const isOfBase = (path: string): boolean =>
    partsBelow(base, path) !== undefined && statOf(path)?.dev === statOf(base)?.dev;
  const written = outer.filter((path) => base !== "" && isOfBase(path) && statOf(path)?.isDirectory());
  const fetched = join(caches, "fetched");
  const own = isFetching ? { folder: fetched } : { folder: join(caches, "written"), below: fetched };
  const secrets = hidden.map(({ path }) => path).filter((path) => written.some((place) => partsBelow(place, path)));
  const layer = written.length === 0 ? undefined : await layerOver({ base, hidden: secrets, ...own });
  const binds = [
    ...outer.map((path): Bind => {
      const from = written.includes(path) && layer && placeIn(layer, path);
      return from ? { kind: "writable", path, from } : { kind: "read-only", path };
    }),
    ...privates.map((path): Bind => {
      const from = join(caches, basename(path));
      mkdirSync(from, { recursive: true, mode: 0o700 });
      return { kind: "writable", path, from };
    }),
  ];
  return { binds, layer };
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
  return attempt(() => accessSync(path, constants.R_OK) ?? true) === true;
}

/** The repository around a workspace folder is read-only, except for its git folder, which may lie elsewhere. */
function around(root: string, scope: CommandScope): readonly Bind[] {
  const top = repositoryOf(root, homeOf(scope));
  return top === undefined || top === root ? [] : [{ kind: "read-only", path: top }];
}
