/** Grants that a lasting answer to a command covers, derived from the simple commands in it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import type { CommandVerdict } from "./command-verdict.ts";
import type { Grant, GrantOffer } from "./grants.ts";
import type { CommandPart } from "./shell/recorder.ts";

/** Tools whose second word is a command. */
const WITH_SUBCOMMANDS = new Set(
  [
    "git npm pnpm yarn bun npx cargo go pip pip3 uv poetry pdm bundle composer gem brew apt apt-get dnf yum apk snap",
    "docker podman kubectl helm terraform tofu gh glab dotnet swift mix flutter dart zig make gmake gradle gradlew mvn",
    "conda nvm asdf mise pyenv rbenv rustup pre-commit tauri expo prisma turbo nx",
  ].flatMap((line) => line.split(" ")),
);
/** Tools whose second and third word are a command. */
const WITH_TWO = /^(?:(?:docker|podman) (?:compose|container|image|network|volume|system)|gh \w+|glab \w+|uv pip)$/;
const SUBCOMMAND = /^[a-zA-Z@][\w:@./-]*$/;

/**
 * Grants that cover a command, one for each of its parts that `needs` one. Undefined when no grant can cover it: a
 * part has unknown words or is never granted, or an effect outside of every part asks.
 */
export function commandGrant(
  verdict: CommandVerdict,
  needs: (part: CommandPart) => boolean,
  scope: CommandScope,
): GrantOffer | undefined {
  if (verdict.level === "block" || verdict.alwaysAskReasons.length > 0 || verdict.outsideCommands.asks)
    return undefined;
  const keys = new Map<string, Grant>();
  for (const part of verdict.parts.filter(needs)) {
    const key = partGrant(part, scope);
    if (key === undefined) return undefined;
    keys.set(key.id, key);
  }
  if (keys.size === 0) return undefined;
  const all = [...keys.values()];
  return { description: all.map(({ description }) => description).join("; "), keys: all };
}

function partGrant({ words, grant, program }: CommandPart, scope: CommandScope): Grant | undefined {
  if (words === undefined || grant === "never") return undefined;
  const workspace = scope.roots.find((root) => partsBelow(root, scope.cwd) !== undefined) ?? scope.cwd;
  const count = grant === "prefix" ? prefixLength([program, ...words.slice(1)]) : 0;
  if (count === 0) {
    const id = JSON.stringify(["exactly", scope.cwd, ...words]);
    return { id, description: `exactly \`${words.join(" ")}\` in ${scope.cwd}` };
  }
  const prefix = words.slice(0, count);
  const body = scriptBody(prefix, scope.cwd);
  // The same script name in another folder is another script.
  const place = body === undefined ? [workspace] : [scope.cwd, body];
  const until = body === undefined ? "" : ", until its script changes";
  const where = body === undefined ? `in ${workspace}` : `in ${scope.cwd}`;
  return {
    id: JSON.stringify(["starting", ...place, ...prefix]),
    description: `\`${prefix.join(" ")}\` with any arguments ${where}${until}`,
  };
}

/** Number of words that a prefix grant names; 0 when only the whole command can be granted. */
function prefixLength(words: readonly string[]): number {
  const [program = "", second = "", third = ""] = words;
  const script = scriptWords(words);
  if (script > 0) return script;
  if (!WITH_SUBCOMMANDS.has(program)) return second === "" || SUBCOMMAND.test(second) ? Math.min(words.length, 2) : 0;
  if (!SUBCOMMAND.test(second)) return words.length === 1 ? 1 : 0;
  return WITH_TWO.test(`${program} ${second}`) && SUBCOMMAND.test(third) ? 3 : 2;
}

const manifestSchema = z.object({ scripts: z.record(z.string(), z.string()).default({}) });
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];
const OWN_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ["t", "test"],
  ["tst", "test"],
  ["test", "test"],
  ["start", "start"],
  ["stop", "stop"],
  ["restart", "restart"],
]);
const RUNNERS = new Set(["run", "run-script", "rum", "urn"]);

/**
 * Hash of the package script or the makefile that a simple command runs in `cwd`; undefined when it runs neither. A
 * grant for the name ends when the hash changes.
 */
function scriptBody(words: readonly string[], cwd: string): string | undefined {
  const [program = ""] = words;
  if (program === "make" || program === "gmake") return hash(makefile(cwd));
  const script = scriptName(words);
  return script === undefined ? undefined : hash(packageScript(script, cwd));
}

/** Number of words that name a package script: 2 for `npm test`, 3 for `npm run lint`; 0 when there is none. */
function scriptWords(words: readonly string[]): number {
  if (scriptName(words) === undefined) return 0;
  return RUNNERS.has(words[1] ?? "") ? 3 : 2;
}

function scriptName([program = "", verb = "", target]: readonly string[]): string | undefined {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program)) return undefined;
  if (RUNNERS.has(verb)) return target?.startsWith("-") ? undefined : target;
  const own = OWN_SCRIPTS.get(verb);
  if (own !== undefined) return own;
  // yarn and pnpm run a script by its bare name.
  return program === "npm" || !/^[a-z][\w:.-]*$/i.test(verb) ? undefined : verb;
}

function packageScript(script: string, cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const text = read(join(folder, "package.json"));
    if (text !== undefined) return bodies(text, script);
    if (dirname(folder) === folder) return "";
  }
}

/** The script with its pre and post scripts; the whole text when it is no valid manifest. */
function bodies(text: string, script: string): string {
  try {
    const { scripts } = manifestSchema.parse(JSON.parse(text));
    return [`pre${script}`, script, `post${script}`].map((name) => `${name}: ${scripts[name] ?? ""}`).join("\n");
  } catch {
    return text; // no manifest, or a broken one: any change of it counts
  }
}

function makefile(cwd: string): string {
  return MAKEFILES.map((name) => read(join(cwd, name))).find((text) => text !== undefined) ?? "";
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // missing or unreadable: there is no such script here
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
