/** Places that may be read: the workspace, temporary files, the system, and toolchains in the home folder. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { TOOLCHAIN_VARIABLES } from "../host/terminals/command-environment.ts";
import { type CommandScope, homeOf, partsBelow, placeOf } from "./command-scope.ts";
import { outsideText } from "./protected-paths.ts";
import { patternOf } from "./reached-secrets.ts";
import { secretReason } from "./secret-paths.ts";

/** Folders and files below the home that toolchains need; none of them holds keys. */
const TOOLCHAINS = [
  ".cargo .rustup .nvm .fnm .volta .nodenv .n .bun .deno .pyenv .rye .asdf .rbenv .rvm .gem .bundle .jenv .sdkman .goenv",
  ".dotnet .nuget .m2 .ivy2 .sbt .gradle .opam .ghcup .cabal .stack .elan .juliaup .julia .pub-cache .mix .hex .swiftpm",
  ".local/bin .local/lib .local/share/mise .local/share/fnm .local/share/pnpm .local/share/uv .local/share/pipx",
  ".local/share/virtualenvs .local/share/gem .local/share/rtx .local/share/bash-completion .linuxbrew",
  ".gitconfig .config/git .config/mise .config/pnpm .config/go .editorconfig .tool-versions .nvmrc .node-version",
  ".python-version .ruby-version .inputrc .hushlogin .terminfo .pnpm-store .npm .yarn .cache go miniconda3 anaconda3",
  "miniforge3 .conda sdk Android/Sdk flutter Library/Caches Library/pnpm Library/Android/sdk Library/Python",
].flatMap((line) => line.split(" "));
/** Caches that get a private folder in the sandbox, because many programs write to them and run what is in them. */
export const PRIVATE_CACHES: readonly string[] = [".cache", ".npm", ".yarn", ".local/share/NuGet", "Library/Caches"];
/** Folders that belong to the system, and which every user may read. */
const SYSTEM = words("/bin /boot /dev /etc /lib /lib32 /lib64 /nix /opt /proc /run /sbin /snap /sys /usr /var /gnu");
const SYSTEM_OF_MACOS = words("/Applications /Library /System /private/etc /private/var");
/** Homes of other users, hidden in the sandbox together with the user's own. */
const HOMES: readonly string[] = ["/home", "/var/home", "/root", "/Users", "/mnt/c/Users"];

/**
 * Absolute paths of toolchains below the home: known ones, those of folders in PATH, and those that variables name. The
 * paths need not exist.
 */
export function toolchainPlaces(scope: CommandScope, environment = process.env): readonly string[] {
  const home = homeOf(scope);
  const named = TOOLCHAIN_VARIABLES.map((name) => environment[name] ?? "");
  const programs = (environment["PATH"] ?? "").split(":").map((path) => {
    const folder = path.replace(/\/+$/, "");
    // The folder above shows its other folders only where it is that of a toolchain.
    const above = dirname(folder);
    return /\/s?bin$/.test(folder) && ["lib", "libexec", "include"].some((name) => existsSync(join(above, name)))
      ? above
      : folder;
  });
  const inHome = [...named, ...programs]
    .filter((path) => path.startsWith("/"))
    .map((path) => scope.resolvePath(path))
    .filter((path) => isToolFolder(path, home) && secretReason(path, scope) === undefined);
  return [...new Set([...TOOLCHAINS.map((name) => join(home, name)), ...inHome])];
}

/** True below a home folder, but not for a folder that holds many others, such as `.local`. */
function isToolFolder(path: string, home: string): boolean {
  return [home, "/root", "/home/*", "/Users/*"].some((pattern) => {
    const below = partsBelow(pattern.replace("/*", ""), path)?.slice(pattern.endsWith("/*") ? 1 : 0) ?? [];
    return below.length > 1 || (below.length === 1 && !/^\.(?:local|config)$/.test(below[0] ?? ""));
  });
}

const known = new Map<string, readonly string[]>();

/**
 * Place of `path` (absolute) when a command has no business there; undefined for the workspace, the system and
 * toolchains. `isHidden`: the sandbox does not show it.
 */
export function readPlace(
  path: string,
  scope: CommandScope,
): { readonly reason: string; readonly isHidden: boolean } | undefined {
  const real = scope.resolvePath(path);
  const { kind } = placeOf(real, scope);
  if (kind === "workspace" || kind === "temp") return undefined;
  const homes = homesOf(scope);
  const isInHome = homes.some((folder) => mayLieIn(folder, real));
  if (isSystem(real) && !isInHome) return undefined; // a home may lie below `/var`
  const own = partsBelow(scope.resolvePath(scope.hermesHome), real);
  if (own !== undefined && isOwnOutput(own)) return undefined;
  const key = `${scope.home}\0${process.env["PATH"] ?? ""}`;
  const places = known.get(key) ?? toolchainPlaces(scope);
  known.set(key, places);
  if (places.some((place) => partsBelow(place, real) !== undefined)) return undefined;
  // In the sandbox a pattern matches no home.
  const isHidden = homes.some((folder) => partsBelow(folder, real) !== undefined);
  return { reason: `it is ${isInHome ? "in a home folder, " : ""}outside the workspace`, isHidden };
}

/** Real folders that hold homes, and the user's own home. */
export function homesOf(scope: CommandScope): readonly string[] {
  return [...new Set([...HOMES, scope.home].map((path) => scope.resolvePath(path)))];
}

/** True for a path in `folder`, and for a pattern that may match one. */
function mayLieIn(folder: string, path: string): boolean {
  if (!/[*?[]/.test(path)) return partsBelow(folder, path) !== undefined;
  const parts = path.split("/");
  return folder.split("/").every((part, at) => patternOf(parts[at] ?? "").test(part));
}

/** Reason why a tool asks before it reads `path` (absolute): it is neither in the workspace nor temporary, nor our output. */
export function outsideReason(path: string, scope: CommandScope): string | undefined {
  const real = scope.resolvePath(path);
  const { kind } = placeOf(real, scope);
  if (kind === "workspace" || kind === "temp") return undefined;
  const own = partsBelow(scope.resolvePath(scope.hermesHome), real);
  return own !== undefined && isOwnOutput(own) ? undefined : outsideText(path, real, scope);
}

/** True for a folder that does not exist in the sandbox. */
export function isHiddenFolder(folder: string, scope: CommandScope): boolean {
  return readPlace(folder, scope)?.isHidden === true;
}

/** Long outputs of the session's own tools, which the results ask the model to read. */
function isOwnOutput([vscode, sessions, folder]: readonly string[]): boolean {
  return vscode === "vscode" && sessions === "sessions" && folder?.endsWith(".files") === true;
}

function isSystem(path: string): boolean {
  const top = `/${path.split("/")[1] ?? ""}`;
  if (SYSTEM.has(top)) return true;
  return SYSTEM_OF_MACOS.has(top) || SYSTEM_OF_MACOS.has(path.split("/").slice(0, 3).join("/"));
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
