/** Skills from elsewhere, fetched into a quarantine folder and checked before anything of them is used. */
import { createHash } from "node:crypto";
import { cp, lstat, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { runGit } from "../host/run-git.ts";
import { messageOf } from "../platform/errors.ts";
import { decodeText } from "../platform/text-file.ts";
import { MAX_FILE_BYTES, parseSkill, SKILL_FILE, textProblem } from "./skill.ts";
import { isInside } from "./skill-places.ts";
import { fetchSite } from "./skill-site.ts";

/** Folder of the skills that the package contains and that nobody uses before they are installed; set by esbuild. */
declare const __OPTIONAL_SKILLS__: unknown;

/** Source of those skills; `official/NAME` is one of them. */
export const OFFICIAL = "official";

/** Limits of one skill. */
const MAX_FILES = 200;
const MAX_BYTES = 10 * MAX_FILE_BYTES;
/** Limit of a local folder, which is copied as a whole. Files and folders. */
const MAX_COPIED = 5_000;
const CLONE_TIMEOUT_MS = 120_000;
/** Folders that hold skills in a repository, and their depth. */
const MAX_DEPTH = 5;

/** A clone without filters, submodules and transport programs. Links stay links, which the check refuses. */
const CLONE =
  "-c core.symlinks=true clone --quiet --depth=1 --no-tags --single-branch --template= --no-recurse-submodules";
const VARIABLES = { GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh", GIT_LFS_SKIP_SMUDGE: "1" };

export type QuarantinedSkill = {
  readonly name: string;
  readonly description: string;
  /** In the quarantine, absolute. */
  readonly folder: string;
  /** SHA-256 over names and contents of its files. */
  readonly hash: string;
  readonly files: number;
  /** Files that it may ask the agent to run. */
  readonly programs: readonly string[];
};

export type Refusal = { readonly name: string; readonly reason: string };

export type Quarantined = {
  readonly skills: readonly QuarantinedSkill[];
  readonly refusals: readonly Refusal[];
  /** Source of one folder, by its path in the quarantine. */
  readonly address: (inner: string) => string;
};

/** Parsed source of skills. */
type Source =
  | { readonly kind: "folder"; readonly folder: string }
  | {
      /** `site`: a web site that publishes skills, or else a git repository. */
      readonly kind: "git" | "site";
      readonly url: string;
      /** Path in the repository; name of the skill on a site. */
      readonly inner: string;
      readonly branch?: string;
      /** Only the skill with this name. */
      readonly skill?: string | undefined;
    };

/** Pages of a folder or file at GitHub and GitLab. */
const TREE_PAGE = /^(https:\/\/[^/]+\/[^/]+\/.+?)(?:\/-)?\/(?:tree|blob)\/([^/]+)(?:\/(.*?))?(?:\/?SKILL\.md)?\/?$/;
const SKILLS_SH = /^(?:https:\/\/)?(?:www\.)?skills\.sh\/([\w-][\w.-]*\/[\w.-]+)(?:\/([\w.-]+))?\/?$/;

/**
 * `source`: `official` or `official/NAME`, a folder, a git address with `#path` inside it, `owner/repository/path`, the
 * page of a folder at GitHub or GitLab, a page of skills.sh, a site with an index of skills, or the address of a SKILL.md.
 * Throws an Error in one line.
 */
async function readSource(source: string, cwd: string): Promise<Source> {
  const [, own] = /^official(?:\/([a-z0-9-]+))?$/.exec(source) ?? [];
  if (source === OFFICIAL || own !== undefined) return { kind: "folder", folder: join(optionalFolder(), own ?? "") };
  const remote = readAddress(source);
  if (remote !== undefined) return remote;
  const folder = source.startsWith("~/") ? join(homedir(), source.slice(2)) : resolve(cwd, source);
  if ((await stat(folder).catch(() => undefined))?.isDirectory()) return { kind: "folder", folder };
  const [, repository, inner = ""] = /^([\w-][\w.-]*\/[\w.-]+)(?:\/(.+))?$/.exec(source) ?? [];
  if (repository === undefined) {
    throw new Error(`${source} is neither a folder, an address nor owner/repository/path. Check the spelling.`);
  }
  return { kind: "git", url: `https://github.com/${repository}.git`, inner };
}

function readAddress(source: string): Source | undefined {
  const [, page, branch, path = ""] = TREE_PAGE.exec(source) ?? [];
  if (page !== undefined && branch !== undefined) return { kind: "git", url: `${page}.git`, inner: path, branch };
  const [, listed, skill] = SKILLS_SH.exec(source) ?? [];
  if (listed !== undefined) return { kind: "git", url: `https://github.com/${listed}.git`, inner: "", skill };
  const [url = "", inner = ""] = source.split("#", 2);
  if (/^https?:\/\//.test(url) && !url.endsWith(".git")) return { kind: "site", url, inner };
  const isGit = /^(?:https?|ssh|git|file):\/\//.test(url) || /^[\w.-]+@[\w.-]+:/.test(url);
  return isGit ? { kind: "git", url, inner } : undefined;
}

function optionalFolder(): string {
  const inner = typeof __OPTIONAL_SKILLS__ === "string" ? __OPTIONAL_SKILLS__ : "./optional";
  return fileURLToPath(new URL(inner, import.meta.url));
}

/** Fetches `source` into `folder` (absolute; replaced), and checks its skills. Throws an Error in one line. */
export async function quarantine(
  source: string,
  { folder, cwd, signal }: { readonly folder: string; readonly cwd: string; readonly signal: AbortSignal },
): Promise<Quarantined> {
  const read = await readSource(source, cwd);
  const isOfficial = source.split("/")[0] === OFFICIAL && read.kind === "folder";
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  if (read.kind === "folder") await copyFolder(read.folder, folder);
  else if (read.kind === "git" || !(await fetchSite(read.url, { folder, only: read.inner, signal })))
    await clone(read, folder, signal);
  const top = read.kind === "folder" ? folder : join(folder, read.inner);
  if (!isInside(top, folder)) throw new Error(`${source} is outside the repository.`);
  const own = read.kind === "folder" ? basename(read.folder) : basename(read.url, ".git");
  const nameOf = (each: string): string => (each === folder ? own : basename(each));
  const checked = await Promise.all((await skillFolders(top, 0)).map((each) => checkFolder(each, nameOf(each))));
  if (checked.length === 0) throw new Error(`${source} has no ${SKILL_FILE}.`);
  const only = read.kind === "folder" ? undefined : read.skill;
  return {
    skills: checked.filter((each) => "hash" in each).filter(({ name }) => only === undefined || name === only),
    refusals: checked.filter((each) => "reason" in each),
    address: (inner) => {
      if (read.kind !== "folder") return `${read.url}#${inner}`;
      return isOfficial ? `${OFFICIAL}/${basename(join(read.folder, inner))}` : join(read.folder, inner);
    },
  };
}

async function clone(
  { url, branch }: Exclude<Source, { readonly kind: "folder" }>,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(CLONE_TIMEOUT_MS)]);
  const args = [...CLONE.split(" "), ...(branch === undefined ? [] : [`--branch=${branch}`]), "--", url, folder];
  const run = { cwd: dirname(folder), variables: VARIABLES, signal: ends, timeoutMs: CLONE_TIMEOUT_MS };
  const { exitCode, stderr } = await runGit(args, run).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(`Could not fetch ${url}: ${ends.aborted ? "it took longer than two minutes" : messageOf(error)}.`);
  });
  if (exitCode === 0) return;
  const lines = stderr.trim().split("\n");
  const reason = lines.find((line) => line.startsWith("fatal:")) ?? lines.at(-1) ?? "";
  throw new Error(`Could not fetch ${url}: ${reason.replace(/^fatal: /, "")}. Check the address and the network.`);
}

/** Links are copied as links, which the check refuses. */
async function copyFolder(from: string, to: string): Promise<void> {
  let count = 0;
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter(path) {
      count += 1;
      if (count > MAX_COPIED)
        throw new Error(`${from} has more than ${MAX_COPIED} files: name the folder of the skill.`);
      return basename(path) !== ".git" && basename(path) !== "node_modules";
    },
  });
}

/** Folders with a SKILL.md, at any depth that repositories use. */
async function skillFolders(folder: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (entries.some((entry) => entry.name === SKILL_FILE)) return [folder];
  if (depth === MAX_DEPTH) return [];
  const inner = entries.filter((entry) => entry.isDirectory() && ![".git", "node_modules"].includes(entry.name));
  const found = await Promise.all(inner.map((entry) => skillFolders(join(folder, entry.name), depth + 1)));
  return found.flat().toSorted();
}

/** The skill in a folder of any name: its own name is in its front matter. `folderName`: the folder's name at its source. */
async function checkFolder(folder: string, folderName: string): Promise<QuarantinedSkill | Refusal> {
  const refuse = (reason: string): Refusal => ({ name: folderName, reason });
  const files = await readFiles(folder).catch((error: unknown) => messageOf(error));
  if (typeof files === "string") return refuse(files);
  const text = decodeText(files.get(SKILL_FILE) ?? Buffer.alloc(0)) ?? "";
  const parsed = await parseSkill(text, folderName);
  if (!parsed.ok) return refuse(parsed.reason);
  const { name, description } = parsed.facts;
  for (const [path, bytes] of files) {
    const problem = textProblem(decodeText(bytes) ?? "", MAX_FILE_BYTES);
    if (problem !== undefined) return refuse(`${path}: ${problem}`);
  }
  const programs = [...files.keys()].filter(
    (path) => path.startsWith("scripts/") || files.get(path)?.toString("latin1", 0, 2) === "#!",
  );
  return { name, description, folder, hash: hashOf(files), files: files.size, programs };
}

/** Hash of an installed skill; undefined when it cannot be read. */
export async function hashOfFolder(folder: string): Promise<string | undefined> {
  return readFiles(folder).then(hashOf, () => undefined);
}

function hashOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash("sha256");
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest("hex");
}

/** Contents by relative path, in order. Throws an Error in one line for a link, and above the limits. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  if ((await lstat(folder)).isSymbolicLink()) throw new Error("the folder is a symbolic link");
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ entry, path: relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/") }))
    .filter(({ path }) => !path.startsWith(".git/"))
    .toSorted((first, second) => (first.path < second.path ? -1 : 1));
  if (entries.length > MAX_FILES) throw new Error(`it has ${entries.length} files; the limit is ${MAX_FILES}`);
  const files = new Map<string, Buffer>();
  let bytes = 0;
  for (const { entry, path } of entries) {
    if (!entry.isFile()) throw new Error(`${path} is a symbolic link, or not a file`);
    const { size } = await lstat(join(folder, path));
    bytes += size;
    if (size > MAX_FILE_BYTES || bytes > MAX_BYTES)
      throw new Error(`${path} is larger than 1 MiB, or all files together are larger than 10 MiB`);
    files.set(path, await readFile(join(folder, path)));
  }
  return files;
}
