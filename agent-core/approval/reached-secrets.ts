/** Secret files of the workspace that a command may print without naming them. */
import { join, relative, resolve } from "node:path";
import { gitLayoutSync, repositoryOf } from "../host/git-layout.ts";
import { readGitSync } from "../host/read-git.ts";
import { escapePattern } from "../platform/escape-pattern.ts";
import { FolderCache } from "../platform/folder-cache.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { type CommandScope, partsBelow, placeOf } from "./command-scope.ts";
import { isSecretName } from "./secret-paths.ts";
import { TOKEN, UNKNOWN } from "./shell/arg.ts";

/** Names that a recursive read includes or leaves out: patterns of file names. */
export type NameFilter = { readonly only?: readonly string[]; readonly without?: readonly string[] };

/** Folders of installed packages and caches: their keys are public test data. */
const FOREIGN = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache", ".git"]);
const MAX_FOLDERS = 2_000;

type Listing = { readonly secrets: readonly string[]; readonly folders: readonly string[] };

const listings = new FolderCache<Listing>();

/** Secret files below `path` (absolute) in the workspace, or `path` itself. */
export function secretsBelow(path: string, scope: CommandScope, filter: NameFilter = {}): readonly string[] {
  const top = scope.resolvePath(path);
  if (placeOf(top, scope).kind !== "workspace") return [];
  const found: string[] = [];
  const open = [top];
  for (let at = 0; at < open.length && at < MAX_FOLDERS; at += 1) {
    const folder = open[at] ?? top;
    const { secrets, folders } = listings.get(folder, () => readListing(folder));
    for (const name of secrets) if (includes(name, filter)) found.push(`${folder}/${name}`);
    for (const name of folders) open.push(`${folder}/${name}`);
  }
  return found;
}

function includes(name: string, { only = [], without = [] }: NameFilter): boolean {
  if (without.some((pattern) => patternOf(pattern).test(name))) return false;
  return only.length === 0 || only.some((pattern) => patternOf(pattern.slice(pattern.lastIndexOf("/") + 1)).test(name));
}

/** Secret files that the pattern or half-known path `text` (absolute) may name. */
export function secretsMatching(text: string, scope: CommandScope, filter?: NameFilter): readonly string[] {
  const start = text.slice(0, text.search(/[*?[{\0]/));
  const folder = start.slice(0, start.lastIndexOf("/") + 1);
  const pattern = patternOf(text.slice(folder.length));
  const top = scope.resolvePath(folder);
  const found = secretsBelow(folder, scope, filter).filter((path) => pattern.test(relative(top, path)));
  // In the shell a leading wildcard matches no hidden name.
  return /\/(?:\*(?!\*)|\?)[^/]*$/.test(text) ? found.filter((path) => !/\/\.[^/]*$/.test(path)) : found;
}

/** Pattern of a shell, or half-known path, as an expression. */
export function patternOf(text: string): RegExp {
  const source = text.replace(/^\.\//, "").replace(/\*\*\/|\*+|\0|\?|\[[^\]/]*\]|[^*?[\0]+|\[/g, (piece) => {
    if (piece === "**/") return "(?:.*/)?";
    if (piece === UNKNOWN || piece.startsWith("**")) return ".*";
    if (piece === "*") return "[^/]*";
    if (piece === "?" || /^\[./.test(piece)) return "[^/]";
    return escapePattern(piece);
  });
  return new RegExp(`^${source}$`, "i");
}

function readListing(folder: string): Listing {
  const entries = entriesOf(folder);
  return {
    secrets: entries.filter((entry) => !entry.isDirectory() && isSecretName(entry.name)).map(({ name }) => name),
    folders: entries.filter((entry) => entry.isDirectory() && !FOREIGN.has(entry.name)).map(({ name }) => name),
  };
}

/**
 * Secret files that the repository around `folder` (absolute) tracks. `paths`: git prints only these files; a path that
 * is a pattern counts as every file.
 */
export function trackedSecrets(folder: string, paths: readonly string[]): readonly string[] {
  const top = repositoryOf(folder);
  if (top === undefined) return [];
  const wanted = paths.map((path) => (/[*?[]|^:/.test(path) || !isPlain(path) ? top : resolve(folder, path)));
  return secretsOfIndex(top)
    .map((name) => join(top, name))
    .filter((path) => wanted.length === 0 || wanted.some((want) => partsBelow(want, path) !== undefined));
}

function isPlain(path: string): boolean {
  return !path.includes(UNKNOWN) && !path.includes(TOKEN);
}

const indexes = new Map<string, { readonly changedAt: number; readonly secrets: readonly string[] }>();

function secretsOfIndex(top: string): readonly string[] {
  const index = join(gitLayoutSync(top)?.own ?? join(top, ".git"), "index");
  const changedAt = statOf(index)?.ctimeMs;
  if (changedAt === undefined) return [];
  const known = indexes.get(top);
  if (known?.changedAt === changedAt) return known.secrets;
  const names = readGitSync(top, ["ls-files", "-z"])?.toString().split("\0") ?? [];
  const secrets = names.filter((name) => isSecretName(name.slice(name.lastIndexOf("/") + 1)));
  indexes.set(top, { changedAt, secrets });
  return secrets;
}
