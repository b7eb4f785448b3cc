/** Grants that a lasting answer to a command covers: keyed by effect, real paths, script text and folder. */
import { readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { gitLayoutSync } from "../host/git-layout.ts";
import { gitSettings, readGitSync } from "../host/read-git.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import type { CommandVerdict } from "./command-verdict.ts";
import type { Grant, GrantOffer } from "./grants.ts";
import { hashOf, readScript } from "./project-scripts.ts";
import type { CommandPart } from "./shell/recorder.ts";

/** Tools whose second word is a command. */
const WITH_SUBCOMMANDS = new Set(
  [
    "git npm pnpm yarn bun npx cargo go pip pip3 uv poetry pdm bundle composer gem brew apt apt-get dnf yum apk snap",
    "docker podman kubectl helm terraform tofu gh glab dotnet swift mix flutter dart zig make gmake gradle gradlew mvn",
    "conda nvm asdf mise pyenv rbenv rustup pre-commit tauri expo prisma turbo nx rails alembic just task deno",
  ].flatMap((line) => line.split(" ")),
);
/** Tools whose second and third word are a command. */
const WITH_TWO = /^(?:(?:docker|podman) (?:compose|container|image|network|volume|system)|gh \w+|glab \w+|uv pip)$/;
const SUBCOMMAND = /^[a-zA-Z@][\w:@./-]*$/;

/**
 * Grants that cover a command: `others`, and one for each of its parts that `needs` one. Undefined when no grant can cover it: a
 * part has unknown words or is never granted, or an effect outside of every part asks.
 */
export function commandGrant(
  verdict: CommandVerdict,
  needs: (part: CommandPart) => boolean,
  scope: CommandScope,
  others: readonly Grant[],
): GrantOffer | undefined {
  if (verdict.level === "block" || !verdict.isFullyParsed || verdict.outsideCommands.asks) return undefined;
  const keys = new Map<string, Grant>(others.map((key) => [key.id, key]));
  for (const part of verdict.parts.filter(needs)) {
    const key = partGrant(part, scope);
    if (key === undefined) return undefined;
    keys.set(key.id, key);
  }
  if (keys.size === 0) return undefined;
  const all = [...keys.values()];
  return { description: all.map(({ description }) => description).join("; "), keys: all };
}

/** A part whose words and folders are known. */
type Granted = { readonly words: readonly string[]; readonly folders: readonly string[]; readonly part: CommandPart };

function partGrant(part: CommandPart, scope: CommandScope): Grant | undefined {
  const { words, grant, program, folders } = part;
  if (words === undefined || folders === undefined || grant === "never") return undefined;
  const granted = { words: [program, ...words.slice(1)], folders: folders.map(scope.resolvePath), part };
  return (
    readScripts(granted) ??
    interpretedScript(granted, scope) ??
    deletion(granted, scope) ??
    push(granted, scope) ??
    fetched(granted) ??
    (grant === "prefix" ? prefix(granted, scope) : undefined) ??
    exactly(granted)
  );
}

function exactly({ words, folders, part: { input } }: Granted): Grant {
  const read = input === undefined ? [] : [`<<${hashOf(input)}`];
  const id = JSON.stringify(["exactly", ...folders, ...words, ...read]);
  const what = `exactly \`${words.join(" ")}\`${input === undefined ? "" : " with this input"}`;
  return { id, description: `${what} in ${folders.join(" or ")}` };
}

/** Options of curl that change neither the request nor the place of the answer. */
const PLAIN_FETCH = /^(?:-[sSfILvi]+|--(?:silent|show-error|fail|head|verbose|include|location|compressed))$/;

/** Reading pages with curl is granted by host, as it is for the web tools. */
function fetched({ words: [program, ...rest], part }: Granted): Grant | undefined {
  if (program !== "curl" || part.level !== "safe") return undefined;
  const addresses = rest.filter((word) => !PLAIN_FETCH.test(word));
  const hosts = addresses.map((word) => /^https?:\/\/([\w.-]+(?::\d+)?)(?:[/?#][^{}[\]]*)?$/.exec(word)?.[1]);
  const [host, ...others] = hosts;
  if (host === undefined || others.some((each) => each !== host)) return undefined;
  return { id: JSON.stringify(["fetch", host]), description: `reading ${host}` };
}

/** Place of a prefix: the workspace folder that all its folders lie in, else these folders alone. */
function placeOf({ folders }: Granted, scope: CommandScope): string {
  const root = scope.roots
    .map(scope.resolvePath)
    .find((each) => folders.every((folder) => partsBelow(each, folder) !== undefined));
  return root ?? folders.join(" or ");
}

function prefix(granted: Granted, scope: CommandScope): Grant | undefined {
  const { words } = granted;
  const count = prefixLength(words);
  if (count === 0) return undefined;
  const place = placeOf(granted, scope);
  const start = words.slice(0, count).join(" ");
  const adds = ADDS_PACKAGES.test(start) && words.slice(count).some((word) => !word.startsWith("-"));
  const files = composeFiles(start, granted);
  const until = files === "" ? "" : ", until its compose file changes";
  return {
    id: JSON.stringify([
      "starting",
      place,
      ...(adds ? ["adding packages"] : []),
      ...(files === "" ? [] : [files]),
      start,
    ]),
    description: adds
      ? `\`${start}\` of any packages in ${place}`
      : `\`${start}\` with any arguments in ${place}${until}`,
  };
}

/** Verbs that add packages with operands, and otherwise install what the lockfile names. */
const ADDS_PACKAGES =
  /^(?:(?:npm|pnpm|yarn|bun) (?:i|install|add)|pip3? install|uv (?:add|pip install)|poetry add|cargo add|gem install)$/;

/** Number of words that a prefix grant names; 0 when only the whole command can be granted. */
function prefixLength(words: readonly string[]): number {
  const [program = "", second = "", third = ""] = words;
  // A push is granted for one address, or to the letter.
  if (program === "git" && second === "push") return 0;
  if (!WITH_SUBCOMMANDS.has(program)) return second === "" || SUBCOMMAND.test(second) ? Math.min(words.length, 2) : 0;
  if (!SUBCOMMAND.test(second)) return words.length === 1 ? 1 : 0;
  return WITH_TWO.test(`${program} ${second}`) && SUBCOMMAND.test(third) ? 3 : 2;
}

const COMPOSE_FILES = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/** Hash of the compose files that decide which folders of this machine a container gets. */
function composeFiles(start: string, { folders }: Granted): string {
  if (!/^(?:docker|podman)(?: compose|-compose)/.test(start)) return "";
  const paths = folders.flatMap((folder) => COMPOSE_FILES.map((name) => join(folder, name)));
  return hashOf(paths.map((path) => readScript(path) ?? "").join("\0"));
}

/** Scripts that the verdict has read: any arguments, until the text of a script changes. */
function readScripts({ words, folders, part }: Granted): Grant | undefined {
  const { scripts } = part;
  const [first] = scripts;
  if (!first) return undefined;
  const start = words.slice(0, lengthToScript(words)).join(" ");
  const texts = hashOf(JSON.stringify(scripts));
  return {
    id: JSON.stringify(["script", ...folders, start, texts]),
    description: `\`${start}\` with any arguments in ${folders.join(" or ")}, until its script changes`,
  };
}

/** Number of words up to the script's name or the target: 2 for `npm test`, 3 for `npm run lint`, 1 for `./run.sh`. */
function lengthToScript(words: readonly string[]): number {
  const [program = "", verb = ""] = words;
  if (program.includes("/")) return 1;
  if (/^(?:run|run-script|rum|urn)$/.test(verb)) return 3;
  return /^(?:npm|pnpm|yarn|bun)$/.test(program) ? 2 : words.length;
}

/** Options of interpreters that load no other code. */
const PLAIN_OPTION = /^-(?:[BEIOsSuW]|-no-warnings|-trace-warnings|-enable-source-maps|-experimental-strip-types)$/;
const INTERPRETER = /^(?:python[\d.]*|node|ruby|perl|php|bash|sh|zsh|dash|tsx|ts-node|deno|bun|Rscript|lua|julia)$/;
/** Scripts of one folder that a grant covers together; with more the answer covers the one script. */
const MAX_SIBLINGS = 50;

/** Scripts of other interpreters: those of a subfolder together, with any arguments, until one of them changes. */
function interpretedScript(granted: Granted, scope: CommandScope): Grant | undefined {
  const { words, folders, part } = granted;
  const [folder, ...others] = folders;
  const [program = "", ...rest] = words;
  const isFile = program.includes("/");
  if (folder === undefined || others.length > 0 || part.level === "safe" || !(isFile || INTERPRETER.test(program)))
    return undefined;
  const at = isFile ? 0 : rest.findIndex((word) => !PLAIN_OPTION.test(word)) + 1;
  const script = words[at];
  if (script === undefined || script.startsWith("-") || script === "run") return undefined;
  const path = scope.resolvePath(resolve(folder, script));
  const text = readScript(path);
  const below = scope.roots
    .map((root) => partsBelow(scope.resolvePath(root), path))
    .find((parts) => parts !== undefined);
  if (text === undefined || below === undefined) return undefined;
  const siblings = below.length > 1 && !isFile ? siblingsOf(path) : [];
  const isWide = siblings.length > 1 && siblings.length <= MAX_SIBLINGS;
  const shown = isWide ? `${dirname(script)}/*${extname(path)}` : script;
  const texts = isWide ? siblings.map((each) => `${each}\0${readScript(each) ?? ""}`).join("\0") : `${path}\0${text}`;
  const start = [...words.slice(0, at), shown].join(" ");
  return {
    id: JSON.stringify(["script", folder, start, hashOf(texts)]),
    description: `\`${start}\` with any arguments in ${folder}, until ${isWide ? "one of these scripts" : "the script"} changes`,
  };
}

function siblingsOf(path: string): readonly string[] {
  const folder = dirname(path);
  try {
    const names = readdirSync(folder).filter((name) => extname(name) === extname(path) && extname(path) !== "");
    return names.sort().map((name) => join(folder, name));
  } catch {
    return []; // not readable: the script alone is granted
  }
}

/** Folders that builds make, and that a build makes again. */
const BUILD_FOLDER =
  /^(?:dist|build|out|target|output|bin|obj|coverage|node_modules|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.pytest_cache|\.mypy_cache|\.ruff_cache|__pycache__|\.gradle|\.tox|\.eggs|\.svelte-kit|\.output|\.nyc_output|htmlcov|storybook-static|tmp|logs|[\w.-]+\.egg-info)$/;

/** Deleting build folders, or single files, of the workspace. */
function deletion({ words, folders }: Granted, scope: CommandScope): Grant | undefined {
  const [program, ...rest] = words;
  if (program !== "rm" || rest.some((word) => word.startsWith("-") && !/^(?:-[dfirRv]+|--)$/.test(word)))
    return undefined;
  const isRecursive = rest.some((word) => /^-\w*[rR]/.test(word));
  const paths = rest.filter((word) => !word.startsWith("-"));
  const roots = scope.roots.map(scope.resolvePath);
  const belows = folders.flatMap((folder) => paths.map((path) => belowRoot(resolve(folder, path), roots, scope)));
  if (belows.length === 0 || belows.some((below) => below === undefined)) return undefined;
  const isBuild = belows.every((below) => below?.some((part) => BUILD_FOLDER.test(part)));
  if (isRecursive && !isBuild) return undefined;
  const place = roots.join(" or ");
  const what = isBuild ? "build folders (dist, node_modules, …)" : "single files";
  return { id: JSON.stringify(["deletes", what, ...roots]), description: `deleting ${what} in ${place}` };
}

/** Parts of a path below a workspace folder; a link as the last part is itself deleted. */
function belowRoot(path: string, roots: readonly string[], scope: CommandScope): readonly string[] | undefined {
  const real = join(scope.resolvePath(dirname(path)), basename(path));
  const below = roots.map((root) => partsBelow(root, real)).find((parts) => parts !== undefined);
  return below?.length === 0 ? undefined : below;
}

const PLAIN_PUSH = /^(?:-[uvqn]+|--(?:set-upstream|tags|follow-tags|verbose|quiet|dry-run|progress|no-verify|atomic))$/;
const SHARED_BRANCH = /^(?:main|master|trunk|develop|production|stable|release.*|v\d.*)$/;

/** Pushing to one remote's address: the branches that others build on apart from the others. */
function push({ words, folders }: Granted, scope: CommandScope): Grant | undefined {
  const [program, verb, ...rest] = words;
  const [folder, ...more] = folders;
  if (program !== "git" || verb !== "push" || folder === undefined || more.length > 0) return undefined;
  const options = rest.filter((word) => word.startsWith("-"));
  const [named, ...refs] = rest.filter((word) => !word.startsWith("-"));
  const top = gitLayoutSync(folder)?.top;
  const settings = new Map(gitSettings(folder)?.map(({ key, value }) => [key, value]));
  if (top === undefined || !options.every((option) => PLAIN_PUSH.test(option))) return undefined;
  const head = readGitSync(folder, ["symbolic-ref", "--quiet", "--short", "HEAD"])?.toString().trim();
  const remote = named ?? usualRemote(settings, head);
  const address = remoteAddress(folder, settings, remote);
  const branches = refs.length > 0 ? refs.map((ref) => (ref === "HEAD" ? head : ref)) : [head];
  if (address === undefined || !branches.every((branch) => branch !== undefined && /^[\w./-]+$/.test(branch)))
    return undefined;
  // A tag is what a release is made of, and by these settings a branch goes to one of another name, or all do.
  const pushesMore = settings.has(`remote.${remote}.push`) || WIDE_PUSH.test(settings.get("push.default") ?? "");
  const isWide = options.some((option) => /^--(?:follow-)?tags$/.test(option)) || (refs.length === 0 && pushesMore);
  const isShared = isWide || branches.some((branch) => branch !== undefined && SHARED_BRANCH.test(branch));
  const what = isShared ? "every branch, main and releases too," : "work branches, not main or releases,";
  return {
    id: JSON.stringify(["push", scope.resolvePath(top), address, isShared]),
    description: `\`git push\` of ${what} to ${address}`,
  };
}

const WIDE_PUSH = /^(?:upstream|tracking|matching)$/;

type Settings = ReadonlyMap<string, string>;

/** The remote that git pushes a branch to when the command names none. */
function usualRemote(settings: Settings, branch = ""): string {
  const names = [`branch.${branch}.pushremote`, "remote.pushdefault", `branch.${branch}.remote`];
  return names.map((name) => settings.get(name)).find((name) => name !== undefined) ?? "origin";
}

/** Addresses that a push to the remote reaches; undefined when the settings name another program or no such remote. */
function remoteAddress(folder: string, settings: Settings, remote: string): string | undefined {
  const runsMore = ["receivepack", "uploadpack", "vcs", "mirror"].some((name) =>
    settings.has(`remote.${remote}.${name}`),
  );
  if (runsMore || !settings.has(`remote.${remote}.url`)) return undefined;
  const addresses = readGitSync(folder, ["remote", "get-url", "--push", "--all", remote])
    ?.toString()
    .trim()
    .split("\n");
  return addresses === undefined || addresses.some((address) => address.includes("::"))
    ? undefined
    : addresses.join(" and ");
}
