/**
 * Rows that cover a command: `npm run build * in /project`. The words are those of the command to its end, or, before a star,
 * its first ones. What the sandbox confines may go on with any words. With the network, the row has each option and each
 * place, and a star stands for names alone. Outside, where a name may be a cluster's or an account's, each word is in the row.
 */
import { hash as digestOf } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { gitSettings, readGitSync } from "../host/read-git.ts";
import { quote } from "../host/terminals/preamble.ts";
import type { GrantForm } from "./command-effect.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import type { CommandVerdict } from "./command-verdict.ts";
import type { Grant, GrantOffer } from "./grants.ts";
import { readScript } from "./project-scripts.ts";
import type { CommandPart } from "./shell/recorder.ts";

/**
 * Rows that cover a command: `others`, and those of each of its parts that `needs` one. Undefined when no row can cover it: a
 * part has unknown words or is never granted, or an effect outside of every part asks.
 */
export function commandGrant(
  verdict: CommandVerdict,
  needs: (part: CommandPart) => boolean,
  scope: CommandScope,
  others: GrantOffer,
): GrantOffer | undefined {
  if (verdict.level === "block" || !verdict.isFullyParsed || verdict.outsideCommands.asks) return undefined;
  const rows = new Map<string, Grant>(others.map((grant) => [grant.row, grant]));
  for (const part of verdict.parts.filter(needs)) {
    const own = partGrants(part, scope);
    if (own === undefined) return undefined;
    for (const grant of own) rows.set(grant.row, grant);
  }
  return rows.size === 0 ? undefined : [...rows.values()];
}

function partGrants(part: CommandPart, scope: CommandScope): GrantOffer | undefined {
  const { words: written, grant, program, folders } = part;
  // Rows of other kinds begin with a word and a colon.
  if (written === undefined || folders === undefined || grant === "never" || program.endsWith(":")) return undefined;
  const words = [program, ...written.slice(1)];
  const host = hostOf(words);
  if (host !== undefined) return [{ row: `fetching: ${host}` }];
  const offers = folders.map((folder) => partGrant(words, part, scope.resolvePath(folder), scope));
  return offers.some((offer) => offer === undefined) ? undefined : offers.filter((offer) => offer !== undefined);
}

const MAX_PREFIX = 6;

function partGrant(
  words: readonly string[],
  part: CommandPart,
  folder: string,
  scope: CommandScope,
): Grant | undefined {
  const script = part.scripts.length > 0 ? undefined : interpretedScript(words, folder, part, scope);
  if (script === "unreadable") return undefined;
  const scripts = [...part.scripts.map(({ path, text }) => `${path}\0${text}`), ...(script ? [script.text] : [])];
  // The text of an input is code, or a part of the command.
  const facts = [...scripts, ...placeFacts(words, folder, scope), ...(part.input === undefined ? [] : [part.input])];
  const hash = facts.length === 0 ? "" : ` as of ${digestOf("sha256", JSON.stringify(facts)).slice(0, 12)}`;
  const takesAny = part.reach === "inside";
  const starred = (count: number): string => {
    const rest = takesAny ? [] : words.slice(count).filter((word) => !isName(word));
    return [...[...words.slice(0, count), ...rest].map(asWritten), "*"].join(" ");
  };
  const whole = words.map(asWritten).join(" ");
  const count = scripts.length > 0 ? lengthToScript(words, script?.at) : prefixLength(words, part.grant);
  const isPrefix = count > 0 && (takesAny || (part.reach === "network" && words.slice(count).some(isName)));
  const place = isPrefix && scripts.length === 0 ? rootOf(folder, scope) : folder;
  const starts = words.slice(0, MAX_PREFIX).map((_, at) => starred(at + 1));
  const within = part.reach === "outside" ? [folder] : foldersAbove(folder);
  const places = ["", ...within.map((above) => ` in ${above}`)];
  const others = [whole, ...starts].flatMap((start) => places.flatMap((at) => [start + at, start + at + hash]));
  return { row: `${isPrefix ? starred(count) : whole} in ${place}${hash}`, others };
}

const asWritten = (word: string): string => (/^[\w@%+=:,./~^-]+$/.test(word) ? word : quote(word));

const PACKAGE = /^@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?$/;

/** False for an option, and for what may be a place: a file, an address, a registry. */
const isName = (word: string): boolean => !word.startsWith("-") && (PACKAGE.test(word) || !/[/:\\]|^\.|^~/.test(word));

function rootOf(folder: string, scope: CommandScope): string {
  return scope.roots.map(scope.resolvePath).find((root) => partsBelow(root, folder) !== undefined) ?? folder;
}

function foldersAbove(folder: string): readonly string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...foldersAbove(dirname(folder))];
}

/** Options of curl that change neither the request nor the place of the answer. */
const PLAIN_FETCH = /^(?:-[sSfILvi]+|--(?:silent|show-error|fail|head|verbose|include|location|compressed))$/;

function hostOf([program, ...rest]: readonly string[]): string | undefined {
  if (program !== "curl") return undefined;
  const addresses = rest.filter((word) => !PLAIN_FETCH.test(word));
  const hosts = addresses.map((word) => /^https?:\/\/([\w.-]+(?::\d+)?)(?:[/?#][^{}[\]]*)?$/.exec(word)?.[1]);
  return new Set(hosts).size === 1 ? hosts[0] : undefined;
}

const VERB = /^[a-zA-Z@][\w:@./-]*$/;
const isMake = (program: string): boolean => program === "make" || program === "gmake";

/** Number of words before the star of a row; 0 when only the whole command can be granted. */
function prefixLength(words: readonly string[], grant: GrantForm): number {
  const [program = "", second = ""] = words;
  if (grant !== "prefix" || (program === "git" && second === "push")) return 0;
  // The rules of a makefile are one script, whatever the target.
  if (isMake(program) || second === "") return 1;
  if (!VERB.test(second)) return 0;
  return program === "uv" && second === "pip" ? 3 : 2;
}

function lengthToScript(words: readonly string[], at: number | undefined): number {
  const [program = "", verb = ""] = words;
  if (at !== undefined) return at + 1;
  if (program.includes("/")) return 1;
  if (/^(?:run|run-script|rum|urn)$/.test(verb)) return 3;
  return /^(?:npm|pnpm|yarn|bun)$/.test(program) ? 2 : words.length;
}

/** Files that decide what a program does, or where: below the folder, or below the home (`~`). */
const DECIDING: readonly (readonly [words: RegExp, files: string, line?: RegExp])[] = [
  [/^g?make\b/, "GNUmakefile makefile Makefile"],
  [
    /^(?:(?:docker|podman|nerdctl) compose|\S+-compose)\b/,
    "compose.yaml compose.yml docker-compose.yml docker-compose.yaml",
  ],
  [/^(?:docker|podman|nerdctl)\b/, "~/.docker/config.json", /"currentContext".*/],
  [/^(?:kubectl|oc|k|helm)\b/, "~/.kube/config", /^current-context:.*/m],
  [/^gcloud\b/, "~/.config/gcloud/active_config"],
  [/^(?:terraform|tofu)\b/, ".terraform/environment"],
];

const WHOLE = /[\s\S]*/;

/** Texts that change with the place: the cluster, the registry, the remote; or with the rules that run. */
function placeFacts(words: readonly string[], folder: string, { home }: CommandScope): readonly string[] {
  const line = words.join(" ");
  const texts = DECIDING.filter(([start]) => start.test(line)).flatMap(([, files, part = WHOLE]) =>
    files.split(" ").flatMap((name) => {
      const path = name.startsWith("~/") ? join(home, name.slice(2)) : join(folder, name);
      return readScript(path)?.match(part)?.[0] ?? "";
    }),
  );
  if (!/^(?:git push|gh|glab)\b/.test(line)) return texts;
  // The branch and the settings decide what a push sends, and where to.
  const own = gitSettings(folder)?.filter(({ scope }) => scope === "local" || scope === "worktree") ?? [];
  const head = /^git/.test(line) ? readGitSync(folder, ["symbolic-ref", "--quiet", "HEAD"]) : undefined;
  return [...texts, JSON.stringify(own), String(head ?? "")];
}

const PLAIN_OPTION = /^-(?:[BEIOsSuW]|-no-warnings|-trace-warnings|-enable-source-maps|-experimental-strip-types)$/;
const INTERPRETER = /^(?:python[\d.]*|node|ruby|perl|php|bash|sh|zsh|dash|tsx|ts-node|deno|bun|Rscript|lua|julia)$/;

/** A script of the workspace that an interpreter runs, which no verdict has read: its text, and its position. */
function interpretedScript(
  [program = "", ...rest]: readonly string[],
  folder: string,
  { level }: CommandPart,
  scope: CommandScope,
): { readonly at: number; readonly text: string } | "unreadable" | undefined {
  const isFile = program.includes("/");
  if (level === "safe" || !(isFile || INTERPRETER.test(program))) return undefined;
  const at = isFile ? 0 : rest.findIndex((word) => !PLAIN_OPTION.test(word)) + 1;
  const script = [program, ...rest][at] ?? "-";
  if (script.startsWith("-") || script === "run") return undefined;
  const path = scope.resolvePath(resolve(folder, script));
  const text = readScript(path);
  if (text === undefined) return "unreadable";
  const isInside = scope.roots.some((root) => partsBelow(scope.resolvePath(root), path) !== undefined);
  return isInside ? { at, text: `${path}\0${text}` } : undefined;
}
