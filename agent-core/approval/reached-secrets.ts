/** Secret files of the workspace that a command may print without naming them. */
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { escapePattern } from "../platform/escape-pattern.ts";
import { entriesOf } from "../platform/paths.ts";
import { type CommandScope, partsBelow, placeOf } from "./command-scope.ts";
import { FolderCache } from "./folder-cache.ts";
import { gitFolder } from "./project-scripts.ts";
import { isSecretName } from "./secret-paths.ts";
import { TOKEN, UNKNOWN } from "./shell/arg.ts";

/** Names that a recursive read includes or leaves out: patterns of file names. */
export type NameFilter = { readonly only?: readonly string[]; readonly without?: readonly string[] };

/** Folders of installed packages and caches: their keys are public test data. */
const FOREIGN = new Set(["node_modules", ".venv", "venv", "target", "vendor", "__pycache__", ".tox", ".cache", ".git"]);
/** Limit of the search below one folder. The nearest folders come first. */
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
export function secretsMatching(text: string, scope: CommandScope): readonly string[] {
  const start = text.slice(0, text.search(/[*?[{\0]/));
  const folder = start.slice(0, start.lastIndexOf("/") + 1);
  const pattern = patternOf(text.slice(folder.length));
  const top = scope.resolvePath(folder);
  const found = secretsBelow(folder, scope).filter((path) => pattern.test(relative(top, path)));
  // In the shell a leading wildcard matches no hidden name.
  return /\/(?:\*(?!\*)|\?)[^/]*$/.test(text) ? found.filter((path) => !/\/\.[^/]*$/.test(path)) : found;
}

/** A piece that is not known may be any text. */
function patternOf(text: string): RegExp {
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

/** Tracked secret files by the path of the index, with the index's time of change. */
const indexes = new Map<string, { readonly changedAt: number; readonly secrets: readonly string[] }>();
/** A larger index takes too long to read before a command. */
const MAX_INDEX_BYTES = 64_000_000;

/**
 * Secret files that the repository around `folder` (absolute) tracks. `paths`: git prints only these files; a path that
 * is a pattern counts as every file.
 */
export function trackedSecrets(folder: string, paths: readonly string[]): readonly string[] {
  const top = repositoryOf(folder);
  if (top === undefined) return [];
  const wanted = paths.map((path) => (/[*?[]|^:/.test(path) || !isPlain(path) ? top : resolve(folder, path)));
  return secretsOfIndex(join(gitFolder(top).own, "index"))
    .map((name) => join(top, name))
    .filter((path) => wanted.length === 0 || wanted.some((want) => partsBelow(want, path) !== undefined));
}

function isPlain(path: string): boolean {
  return !path.includes(UNKNOWN) && !path.includes(TOKEN);
}

function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder));
}

function secretsOfIndex(index: string): readonly string[] {
  const stat = lstatSync(index, { throwIfNoEntry: false });
  if (stat === undefined || stat.size > MAX_INDEX_BYTES) return [];
  const known = indexes.get(index);
  if (known?.changedAt === stat.ctimeMs) return known.secrets;
  const secrets = namesOfIndex(index).filter((name) => isSecretName(name.slice(name.lastIndexOf("/") + 1)));
  indexes.set(index, { changedAt: stat.ctimeMs, secrets });
  return secrets;
}

/** Bytes of an entry before its name: times, mode, owner and size, the hash, and the flags. */
const ENTRY_BYTES = 62;
const HEADER_BYTES = 12;
const EXTENDED = 0x4000;

/** Names in an index of git, versions 2 to 4, with SHA-1. */
function namesOfIndex(path: string): readonly string[] {
  const index = readFileSync(path);
  const names: string[] = [];
  if (index.toString("latin1", 0, 4) !== "DIRC") return names;
  const version = index.readUInt32BE(4);
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0 && at + ENTRY_BYTES < index.length; left -= 1) {
    const flags = index.readUInt16BE(at + ENTRY_BYTES - 2);
    let from = at + ENTRY_BYTES + ((flags & EXTENDED) === 0 ? 0 : 2);
    let kept = "";
    if (version >= 4) {
      const { value, next } = readOffset(index, from);
      const before = names.at(-1) ?? "";
      kept = before.slice(0, before.length - value);
      from = next;
    }
    const end = index.indexOf(0, from);
    if (end < 0) break;
    names.push(kept + index.toString("latin1", from, end));
    at = version >= 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return names;
}

/** Number of variable length, as git writes offsets. */
function readOffset(bytes: Buffer, at: number): { readonly value: number; readonly next: number } {
  let next = at;
  let byte = bytes[next] ?? 0;
  let value = byte & 127;
  while ((byte & 128) !== 0) {
    next += 1;
    byte = bytes[next] ?? 0;
    value = ((value + 1) << 7) | (byte & 127);
  }
  return { value, next: next + 1 };
}
