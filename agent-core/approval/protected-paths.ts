/**
 * Protected paths: files whose change can take over the editor, the agent, the shell or the repository. Creating,
 * editing, moving, deleting or linking one asks in every mode.
 */
import { pathRules } from "../platform/paths.ts";
import { matchesWildcards } from "../platform/wildcards.ts";
import { type CommandScope, homeOf, partsBelow, placeOf } from "./command-scope.ts";
import { foldName } from "./secret-paths.ts";

/** Folders that are protected with everything in them, at any depth of a workspace. */
const FOLDERS: ReadonlyMap<string, string> = new Map([
  [".git", "it belongs to git's own files"],
  [".devcontainer", "it sets up the development container"],
  [".mise", "it runs when someone enters the folder"],
  ...named("it is an editor setting", ".vscode .idea .zed .fleet .helix .nova .theia .vs"),
  ...named("it configures the compiler", ".cargo .mvn"),
  ...named("it is a git hook", ".husky .githooks"),
  ...named("it is a CI workflow", ".circleci .buildkite .woodpecker .semaphore .teamcity"),
  ...named(
    "it configures an agent",
    ".hermes .claude .cursor .codex .gemini .kiro .agents .continue .windsurf .roo .kilocode .clinerules .cline .opencode .qwen .amazonq .junie .trae .augment .factory .openhands .amp .crush",
  ),
]);

function named(reason: string, names: string): readonly (readonly [string, string])[] {
  return names.split(" ").map((name) => [name, reason]);
}

const FORGE_FOLDERS = new Set([".github", ".gitea", ".forgejo"]);
const FORGE_PARTS: ReadonlyMap<string, string> = new Map([
  ...named("it is a CI workflow", "workflows actions"),
  ...named("agents read it as instructions", "instructions prompts agents chatmodes skills copilot-instructions.md"),
  ...named("agents run it as a hook", "hooks"),
]);

const FILES: ReadonlyMap<string, string> = new Map([
  ...named("it belongs to git's own files", ".gitmodules .gitattributes .gitconfig"),
  ...named("it configures the version control", "hgrc .hgrc"),
  ...named("it sets up the development container", ".devcontainer.json .gitpod.yml"),
  ...named("it is an editor setting", ".exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el"),
  ...named("it configures an agent", ".mcp.json opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml"),
  ...named(
    "agents read it as instructions",
    "agents.md agents.override.md claude.md claude.local.md gemini.md soul.md hermes.md .hermes.md qwen.md crush.md warp.md .cursorrules .windsurfrules .roorules .roomodes .rules .goosehints .continuerules .augment-guidelines .openhands_instructions",
  ),
  ...named("it runs when someone enters the folder", ".envrc mise.toml .mise.toml"),
  ...named("it configures the package manager", ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc bunfig.toml"),
  ...named("it is a git hook", ".pre-commit-config.yaml .overcommit.yml"),
  ...named(
    "a program runs it at its start",
    "sitecustomize.py usercustomize.py .gdbinit .lldbinit .rprofile .irbrc .pryrc",
  ),
  ...named(
    "it is a CI workflow",
    ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml .woodpecker.yaml .cirrus.yml azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml .appveyor.yml buildspec.yml cloudbuild.yaml jenkinsfile",
  ),
]);

/** Tools that git starts before a commit, in all spellings of their settings. */
const HOOK_FILE = /^(?:\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.(?:simple-git-hooks|lintstagedrc)(?:\..+)?)$/;
/** `.env`, `.env.local` and so on, without the templates that are shared. */
const ENVIRONMENT_FILE = /^\.env(?:$|[.\-_](?!example$|sample$|template$|dist$|defaults$))/;
const WORKSPACE_FILE = /\.(?:code-workspace|sublime-project)$/;
/**
 * The same names for awk, on a path in lower case. It has no folding of other characters, and counts templates of
 * environment files, which the second pattern excepts.
 */
export const PROTECTED_PATTERN = [
  `(^|/)(${[...FOLDERS.keys(), ...FILES.keys()].map((name) => name.replaceAll(".", "\\.")).join("|")})(/|$)`,
  `(^|/)(${[...FORGE_FOLDERS].map((name) => name.replace(".", "\\.")).join("|")})/(${[...FORGE_PARTS.keys()].join("|")})(/|$)`,
  "(^|/)\\.env($|[._-])|\\.(code-workspace|sublime-project)$",
  "(^|/)(\\.?lefthook(-local)?\\.(ya?ml|toml|json)|\\.(simple-git-hooks|lintstagedrc)(\\..+)?)$",
].join("|");
export const TEMPLATE_PATTERN = "(^|/)\\.env[._-](example|sample|template|dist|defaults)$";
/** Short names on NTFS, which git treats as `.git`. */
const SHORT_GIT_NAME = /^\.?git~\d$/;
/** A name that folding leaves unchanged and that is not a protected folder, because those start with a dot. */
const ORDINARY = /^[a-z0-9_-]*$/;
const WILDCARD = /[*?[\]]/;

/**
 * Reason why a change of `path` (absolute) asks; undefined for an ordinary file of the workspace or of the system's temp
 * folder. The path is judged as written and as the system resolves it, without regard to case.
 */
export function protectedReason(path: string, scope: CommandScope): string | undefined {
  const real = scope.resolvePath(path);
  const written = pathRules(path).normalize(path);
  const place = placeOf(real, scope);
  return (
    ownHomeReason(real, scope) ??
    homeDotReason(real, scope) ??
    nameReason(place.kind === "workspace" ? place.below : []) ??
    nameReason(partsInWorkspace(written, scope)) ??
    (place.kind === "workspace" || place.kind === "temp" ? undefined : outsideText(written, real, scope))
  );
}

/**
 * Reason why a change of the files that a pattern of `*`, `?` and `[]` matches asks. A pattern matches a leading dot only
 * when the dot is written.
 */
export function protectedPatternReason(path: string, scope: CommandScope): string | undefined {
  if (path.split("/").some((part) => /^[.[].*[*?[]|^\[/.test(part))) return "the pattern matches hidden files";
  const slash = path.lastIndexOf("/");
  const name = path.slice(slash + 1);
  if (!WILDCARD.test(name)) return protectedReason(path, scope);
  const folder = path.slice(0, Math.max(slash, 1));
  const reason = protectedReason(`${folder}/x`, scope);
  if (reason !== undefined) return reason;
  // Each sign stands for any text here: more names match.
  const pattern = name.toLowerCase().replace(/\[[^\]]*\]?|\?/g, "*");
  return [...FILES].find(([file]) => !file.startsWith(".") && matchesWildcards(pattern, file))?.[1];
}

function ownHomeReason(real: string, scope: CommandScope): string | undefined {
  return partsBelow(scope.resolvePath(scope.hermesHome), real) === undefined
    ? undefined
    : "it belongs to Hermes itself";
}

/** Dot files of the home start shells, hold keys or configure tools. A workspace below one of them is exempt. */
function homeDotReason(real: string, scope: CommandScope): string | undefined {
  const home = homeOf(scope);
  const below = partsBelow(home, real);
  if (!below?.[0]?.startsWith(".")) return undefined;
  const place = placeOf(real, scope);
  if (place.kind === "workspace" && partsBelow(home, place.base)?.[0]?.startsWith(".")) return undefined;
  return `programs keep their settings and data in ~/${below[0]}`;
}

/** A link in the workspace names its target: its own path looks like one of the workspace. */
export function outsideText(written: string, real: string, scope: CommandScope): string {
  const isLink = partsInWorkspace(written, scope).length > 0;
  return isLink ? `it leads to ${real}, outside the workspace` : "it is outside the workspace";
}

function partsInWorkspace(written: string, scope: CommandScope): readonly string[] {
  for (const root of scope.roots) {
    const below = partsBelow(root, written);
    if (below !== undefined) return below;
  }
  return [];
}

/** Reason why the parts of a path below a workspace folder are protected; undefined when they are not. */
export function nameReason(parts: readonly string[]): string | undefined {
  const folded = parts.map((part) => (ORDINARY.test(part) ? part : foldName(part)));
  for (const [index, part] of folded.entries()) {
    const reason = ORDINARY.test(part) ? FILES.get(part) : (FOLDERS.get(part) ?? fileReason(part));
    if (reason !== undefined) return reason;
    const next = folded[index + 1];
    if (!FORGE_FOLDERS.has(part)) continue;
    const forge = next === undefined ? undefined : FORGE_PARTS.get(next);
    if (forge !== undefined) return forge;
  }
  return undefined;
}

/** True for a name that git takes for `.git` on some file system. */
export function isGitName(name: string): boolean {
  const folded = foldName(name);
  return folded === ".git" || SHORT_GIT_NAME.test(folded);
}

function fileReason(part: string): string | undefined {
  if (SHORT_GIT_NAME.test(part)) return FOLDERS.get(".git");
  if (ENVIRONMENT_FILE.test(part)) return "it holds secrets";
  if (WORKSPACE_FILE.test(part)) return "it is an editor setting";
  if (HOOK_FILE.test(part)) return "it is a git hook";
  return FILES.get(part);
}
