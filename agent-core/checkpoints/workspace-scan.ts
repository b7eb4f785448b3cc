/**
 * Scan of a workspace that finds changed files without reading them, by size and dates. A folder is listed again only after
 * its own date changed.
 */
import type { Dirent, Stats } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type FolderRules, ignoreFilesIn, isIgnored, rulesFrom } from "../host/search-rules.ts";
import { Deadline } from "../platform/deadline.ts";
import { attempt } from "../platform/errors.ts";
import { entriesOf, statOf } from "../platform/paths.ts";
import { readTextSync } from "../platform/text-file.ts";

/** Limit of files in a watched workspace. */
const MAX_FILES = 20_000;
/** Limit of ignored files that are seen, too. */
const MAX_IGNORED_FILES = 2_000;
/** Ignored folders that programs make anew, and git's own, which commands in the sandbox cannot write. */
const LEFT_OUT = new Set(["node_modules", ".venv", "venv", "__pycache__", ".tox", ".cache", ".git"]);
/** Timeout of a scan. After a timeout the workspace is no longer watched. */
const MAX_SCAN_MS = 5_000;
/** Time for which a scan may block its thread. */
const SLICE_MS = 10;
/** A folder with a younger date may change again without a new date. */
const SETTLED_MS = 100;

export type SeenFile = {
  /** Changes with the file. */
  readonly signature: string;
  readonly size: number;
  readonly mode: number;
  readonly isLink: boolean;
  /** Ignored file or folder that it is, or lies in. */
  readonly ignored?: string;
};

export type Scan = {
  readonly files: Map<string, SeenFile>;
  readonly folders: ReadonlySet<string>;
  /** Ignored files and folders whose content is not seen: those of packages and caches, and those beyond the limit. */
  readonly ignored: ReadonlySet<string>;
  /** Files and folders whose names are not UTF-8, with another character in place of the wrong bytes. */
  readonly misnamed: ReadonlySet<string>;
};

type Listed = {
  readonly mtimeMs: number;
  /** Time of the listing, milliseconds since 1970. */
  readonly at: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly ignored: readonly string[];
  readonly misnamed: readonly string[];
  readonly rules: readonly FolderRules[];
  /** Signature of the folder's ignore files. */
  readonly ruleSignature: string;
};

type Progress = {
  readonly files: Map<string, SeenFile>;
  readonly folders: Set<string>;
  ignoredFiles: number;
  readonly deadline: Deadline;
  slice: number;
};

export class WorkspaceScan {
  readonly #roots: readonly string[];
  readonly #own: string | undefined;
  readonly #maxFiles: number;
  #listed = new Map<string, Listed>();

  /** `roots` are absolute; a nested one is scanned once. `own`: folder of the agent's own files, which is left out. */
  constructor(roots: readonly string[], own?: string, maxFiles = MAX_FILES) {
    this.#roots = roots;
    this.#own = own;
    this.#maxFiles = maxFiles;
  }

  /** Undefined when there are too many files, or when the scan takes too long. */
  async scan(): Promise<Scan | undefined> {
    const deadline = new Deadline(MAX_SCAN_MS);
    const progress: Progress = {
      files: new Map(),
      folders: new Set(),
      ignoredFiles: 0,
      deadline,
      slice: performance.now(),
    };
    const before = this.#listed;
    this.#listed = new Map();
    const waiting = this.#roots.map((root) => ({ folder: root, above: [] as readonly FolderRules[] }));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (progress.folders.has(next.folder)) continue;
      progress.folders.add(next.folder);
      const listed = list(next.folder, next.above, before.get(next.folder));
      this.#listed.set(next.folder, listed);
      for (const path of listed.files) addFile(path, progress);
      for (const folder of listed.folders) if (folder !== this.#own) waiting.push({ folder, above: listed.rules });
      if (progress.files.size > this.#maxFiles) return undefined;
      if (!(await pause(progress))) return undefined;
    }
    const listed = [...this.#listed.values()];
    return {
      files: progress.files,
      folders: progress.folders,
      ignored: await this.#unseen(new Set(listed.flatMap(({ ignored }) => ignored)), progress, before),
      misnamed: new Set(listed.flatMap(({ misnamed }) => misnamed)),
    };
  }

  /** Adds what is ignored, and gives the rest that is not seen. */
  async #unseen(ignored: Set<string>, progress: Progress, before: ReadonlyMap<string, Listed>): Promise<Set<string>> {
    for (const path of ignored) if (await this.#addIgnored(path, progress, before)) ignored.delete(path);
    return ignored;
  }

  /** Adds an ignored file, or the files of an ignored folder. False when not all are seen. */
  async #addIgnored(top: string, progress: Progress, before: ReadonlyMap<string, Listed>): Promise<boolean> {
    if (LEFT_OUT.has(basename(top))) return false;
    if (statOf(top)?.isDirectory() !== true) {
      addFile(top, progress, top);
      progress.ignoredFiles += 1;
      return true;
    }
    let isWhole = true;
    const open = [top];
    for (const folder of open) {
      const listed = list(folder, [], before.get(folder));
      this.#listed.set(folder, listed);
      progress.folders.add(folder);
      for (const path of listed.files) addFile(path, progress, top);
      progress.ignoredFiles += listed.files.length;
      const inner = listed.folders.filter((path) => !LEFT_OUT.has(basename(path)));
      open.push(...inner);
      isWhole &&= listed.ignored.length + listed.folders.length === inner.length;
      if (progress.ignoredFiles > MAX_IGNORED_FILES || !(await pause(progress))) return false;
    }
    return isWhole;
  }
}

function addFile(path: string, { files, deadline }: Progress, ignored?: string): void {
  const stat = statOf(path);
  deadline.elapsed(); // a slow disk is not a stall
  if (stat === undefined) return;
  const { size, mode } = stat;
  const isLink = stat.isSymbolicLink();
  files.set(path, {
    signature: signatureOf(stat),
    size,
    mode: mode & 0o7777,
    isLink,
    ...(ignored !== undefined && { ignored }),
  });
}

/** True while the file is the one that a scan saw. */
export function isUnchanged(path: string, { signature }: SeenFile): boolean {
  return currentSignature(path) === signature;
}

/** Signature of the file on the disk; undefined without one. */
export function currentSignature(path: string): string | undefined {
  const stat = statOf(path);
  return stat && signatureOf(stat);
}

function signatureOf({ size, mtimeMs, ctimeMs, ino, mode }: Stats): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino} ${mode}`;
}

function list(folder: string, above: readonly FolderRules[], known: Listed | undefined): Listed {
  const at = Date.now();
  const mtimeMs = statOf(folder)?.mtimeMs ?? 0;
  const isSettled = known !== undefined && known.mtimeMs === mtimeMs && known.at - mtimeMs > SETTLED_MS;
  if (isSettled && hasRules(known, above) && rulesSignature(folder, known.files) === known.ruleSignature) return known;
  const entries = entriesOf(folder);
  const names = entries.map(({ name }) => name);
  const ruleFiles = ignoreFilesIn(folder, names);
  const rules = ruleFiles.length === 0 ? above : [...above, rulesFrom(folder, ruleFiles.map(read))];
  const parts = partsOf(folder, entries, rules);
  return { mtimeMs, at, ...parts, rules, ruleSignature: rulesSignature(folder, parts.files) };
}

function partsOf(
  folder: string,
  entries: readonly Dirent[],
  rules: readonly FolderRules[],
): Pick<Listed, "files" | "folders" | "ignored" | "misnamed"> {
  const files: string[] = [];
  const folders: string[] = [];
  const ignored: string[] = [];
  const misnamed: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (isIgnored(path, entry.isDirectory(), rules)) ignored.push(path);
    else if (entry.name.includes("\ufffd") && statOf(path) === undefined) misnamed.push(path);
    else if (entry.isDirectory()) folders.push(path);
    else if (entry.isFile() || entry.isSymbolicLink()) files.push(path);
  }
  return { files, folders, ignored, misnamed };
}

/** True when the rules of the folders above have not changed since the listing. */
function hasRules({ rules }: Listed, above: readonly FolderRules[]): boolean {
  return above.every((rule, index) => rules[index] === rule) && rules.length <= above.length + 1;
}

function rulesSignature(folder: string, files: readonly string[]): string {
  const own = new Set(files);
  const ruleFiles = ignoreFilesIn(folder, [".gitignore", ".ignore"]).filter((path) => own.has(path));
  return ruleFiles
    .map(statOf)
    .map((stat) => stat && signatureOf(stat))
    .join("|");
}

function read(path: string): string {
  return attempt(() => readTextSync(path)) ?? "";
}

/** Frees the thread regularly; false when the scan takes too long. */
async function pause(progress: Progress): Promise<boolean> {
  if (progress.deadline.hasPassed()) return false;
  if (performance.now() - progress.slice < SLICE_MS) return true;
  await setImmediate();
  progress.slice = performance.now();
  return true;
}
