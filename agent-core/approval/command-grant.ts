/** Grants that a lasting answer to a command covers: the command to the letter, or its first words in a place. */
import { join, resolve } from "node:path";
import { gitSettings, readGitSync } from "../host/read-git.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import type { CommandVerdict } from "./command-verdict.ts";
import type { Grant, GrantOffer } from "./grants.ts";
import { hashOf, readScript } from "./project-scripts.ts";
import type { CommandPart, GrantForm } from "./shell/recorder.ts";

/** Tools whose second word is a command. */
const WITH_SUBCOMMANDS = new Set(
  [
    "git npm pnpm yarn bun npx cargo go pip pip3 uv poetry pdm bundle composer gem brew apt apt-get dnf yum apk snap",
    "docker podman kubectl helm terraform tofu gh glab dotnet swift mix flutter dart zig gradle gradlew mvn",
    "conda nvm asdf mise pyenv rbenv rustup pre-commit tauri expo prisma turbo nx rails alembic just task deno",
  ].flatMap((line) => line.split(" ")),
);
/** Tools whose second and third word are a command. */
const WITH_TWO = /^(?:(?:docker|podman) (?:compose|container|image|network|volume|system)|gh \w+|glab \w+|uv pip)$/;
const SUBCOMMAND = /^[a-zA-Z@][\w:@./-]*$/;

/**
 * Grants that cover a command: `others`, and those of each of its parts that `needs` one. Undefined when no grant can cover
 * it: a part has unknown words or is never granted, or an effect outside of every part asks.
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
    const own = partGrants(part, scope);
    if (own === undefined) return undefined;
    for (const key of own) keys.set(key.id, key);
  }
  if (keys.size === 0) return undefined;
  const all = [...keys.values()];
  return { description: all.map(({ description }) => description).join("; "), keys: all };
}

function partGrants(part: CommandPart, scope: CommandScope): readonly Grant[] | undefined {
  const { words: written, grant, program, folders: found, input } = part;
  if (written === undefined || found === undefined || grant === "never") return undefined;
  const words = [program, ...written.slice(1)];
  const folders = found.map(scope.resolvePath);
  const script = part.scripts.length > 0 ? undefined : interpretedScript(words, folders, part, scope);
  const facts = [...part.scripts.map(({ path, text }) => `${path}\0${text}`), ...(script ? [script.text] : [])];
  const isScript = facts.length > 0;
  const count = isScript ? lengthToScript(words, script?.at) : prefixLength(words, grant);
  if (count > 0)
    return prefix(words, count, { part, folders, facts: [...facts, ...steeringTexts(words, folders)] }, scope);
  const host = hostOf(words);
  if (host !== undefined) return [{ id: JSON.stringify(["fetch", host]), description: `reading ${host}` }];
  const fixed = [...pushFacts(words, folders), ...(input === undefined ? [] : [`<<${input}`])];
  const what = `exactly \`${words.join(" ")}\`${input === undefined ? "" : " with this input"}`;
  const id = JSON.stringify(["exactly", ...folders, ...words, ...fixed.map(hashOf)]);
  return [{ id, description: `${what} in ${folders.join(" or ")}` }];
}

type Surroundings = {
  readonly part: CommandPart;
  readonly folders: readonly string[];
  /** Texts that the command runs: the grant ends when one of them changes. */
  readonly facts: readonly string[];
};

/** The first words. Beyond the sandbox, an option or a place that the first call did not have needs an answer of its own. */
function prefix(
  words: readonly string[],
  count: number,
  { part, folders, facts }: Surroundings,
  scope: CommandScope,
): readonly Grant[] {
  const root = scope.roots
    .map(scope.resolvePath)
    .find((each) => folders.every((folder) => partsBelow(each, folder) !== undefined));
  const place = facts.length > 0 && part.scripts.length > 0 ? folders.join(" or ") : (root ?? folders.join(" or "));
  const start = words.slice(0, count).join(" ");
  const texts = facts.length === 0 ? [] : [hashOf(JSON.stringify(facts))];
  const what = steering(words)?.what ?? "script";
  const until = facts.length === 0 ? "" : `, until its ${what} changes`;
  const rest = words.slice(count);
  if (part.reach === "inside") {
    const id = JSON.stringify(["starting", place, ...texts, start]);
    return [{ id, description: `\`${start}\` with any arguments in ${place}${until}` }];
  }
  const hasNames = rest.some((word) => !word.startsWith("-"));
  const fixed = rest.filter((word) => word.startsWith("-") || (/[/:\\]|^\.|^~/.test(word) && !PACKAGE.test(word)));
  const id = JSON.stringify(["starting", place, ...texts, start, hasNames]);
  const first = { id, description: `\`${start}\` ${hasNames ? "with any names" : "alone"} in ${place}${until}` };
  return [first, ...fixed.map((word) => ({ id: JSON.stringify(["with", place, start, word]), description: word }))];
}

/** Options of curl that change neither the request nor the place of the answer. */
const PLAIN_FETCH = /^(?:-[sSfILvi]+|--(?:silent|show-error|fail|head|verbose|include|location|compressed))$/;

/** Host whose pages curl reads: they are granted by host, as they are for the web tools. */
function hostOf([program, ...rest]: readonly string[]): string | undefined {
  if (program !== "curl") return undefined;
  const addresses = rest.filter((word) => !PLAIN_FETCH.test(word));
  const hosts = addresses.map((word) => /^https?:\/\/([\w.-]+(?::\d+)?)(?:[/?#][^{}[\]]*)?$/.exec(word)?.[1]);
  return new Set(hosts).size === 1 ? hosts[0] : undefined;
}

/** Scoped name of a package of npm, with its version. */
const PACKAGE = /^@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?$/;

const isMake = (program: string): boolean => program === "make" || program === "gmake";

/** Number of words that a prefix grant names; 0 when only the whole command can be granted. */
function prefixLength(words: readonly string[], grant: GrantForm): number {
  const [program = "", second = "", third = ""] = words;
  if (grant !== "prefix" || (program === "git" && second === "push")) return 0;
  // The rules of a makefile are one script, whatever the target.
  if (isMake(program)) return 1;
  if (!WITH_SUBCOMMANDS.has(program)) return second === "" || SUBCOMMAND.test(second) ? Math.min(words.length, 2) : 0;
  if (!SUBCOMMAND.test(second)) return words.length === 1 ? 1 : 0;
  return WITH_TWO.test(`${program} ${second}`) && SUBCOMMAND.test(third) ? 3 : 2;
}

/** Number of words up to the script's name or the target: 2 for `npm test`, 3 for `npm run lint`, 1 for `./run.sh`. */
function lengthToScript(words: readonly string[], at: number | undefined): number {
  const [program = "", verb = ""] = words;
  if (at !== undefined) return at + 1;
  if (program.includes("/")) return 1;
  if (/^(?:run|run-script|rum|urn)$/.test(verb)) return 3;
  return /^(?:npm|pnpm|yarn|bun)$/.test(program) ? 2 : words.length;
}

/** Files that decide what these programs do in a folder: a grant ends when one of them changes. */
function steering([program = "", verb]: readonly string[]) {
  if (isMake(program)) return { what: "makefile", names: ["GNUmakefile", "makefile", "Makefile"] };
  const isCompose = verb === "compose" || program.endsWith("-compose");
  const names = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
  return isCompose ? { what: "compose file", names } : undefined;
}

function steeringTexts(words: readonly string[], folders: readonly string[]): readonly string[] {
  const names = steering(words)?.names ?? [];
  return folders.flatMap((folder) => names.map((name) => readScript(join(folder, name)) ?? ""));
}

/** The branch and the settings decide what a push sends, and where to. */
function pushFacts([program, verb]: readonly string[], folders: readonly string[]): readonly string[] {
  if (program !== "git" || verb !== "push") return [];
  return folders.flatMap((folder) => [
    JSON.stringify(gitSettings(folder) ?? []),
    String(readGitSync(folder, ["symbolic-ref", "--quiet", "HEAD"]) ?? ""),
  ]);
}

/** Options of interpreters that load no other code. */
const PLAIN_OPTION = /^-(?:[BEIOsSuW]|-no-warnings|-trace-warnings|-enable-source-maps|-experimental-strip-types)$/;
const INTERPRETER = /^(?:python[\d.]*|node|ruby|perl|php|bash|sh|zsh|dash|tsx|ts-node|deno|bun|Rscript|lua|julia)$/;

/** A script of the workspace that an interpreter runs, which no verdict has read: its text, and its position. */
function interpretedScript(
  [program = "", ...rest]: readonly string[],
  [folder, ...others]: readonly string[],
  { level }: CommandPart,
  scope: CommandScope,
): { readonly at: number; readonly text: string } | undefined {
  const isFile = program.includes("/");
  if (folder === undefined || others.length > 0 || level === "safe" || !(isFile || INTERPRETER.test(program)))
    return undefined;
  const at = isFile ? 0 : rest.findIndex((word) => !PLAIN_OPTION.test(word)) + 1;
  const script = [program, ...rest][at] ?? "-";
  if (script.startsWith("-") || script === "run") return undefined;
  const path = scope.resolvePath(resolve(folder, script));
  const text = readScript(path);
  const isInside = scope.roots.some((root) => partsBelow(scope.resolvePath(root), path) !== undefined);
  return text === undefined || !isInside ? undefined : { at, text: `${path}\0${text}` };
}
