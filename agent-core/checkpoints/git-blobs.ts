/** Reads the workspace's files from the user's git. Never writes to it, and never runs a program of the repository. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Without optional locks git does not refresh its index. `core.fsmonitor` would run a program of the repository, and so
 * would the settings of a bare repository among the workspace's files.
 */
const READ_ONLY = [
  "--no-optional-locks",
  ...["core.fsmonitor=false", "core.quotePath=false", "safe.bareRepository=explicit"].flatMap((each) => ["-c", each]),
];
/** A missing object of a partial clone would be fetched, by a program that the repository names. */
const READ_ONLY_VARIABLES = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
};
/** Timeout of git. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 100_000_000;

export type Blob = { readonly hash: string; readonly size: number };

export type GitBlobs = {
  /** Tracked files without changes, by absolute path. */
  unchanged(): Promise<ReadonlyMap<string, Blob>>;
  /** Content of an object; undefined when git has lost it. */
  read(hash: string): Promise<Buffer | undefined>;
};

/** `roots` are absolute folders; one outside a repository has no objects. */
export function gitBlobs(roots: readonly string[]): GitBlobs {
  /** Repository of each object. */
  const homes = new Map<string, string>();
  return {
    async unchanged() {
      const blobs = new Map<string, Blob>();
      for (const root of roots) {
        for (const [path, blob] of await unchangedIn(root)) {
          blobs.set(path, blob);
          homes.set(blob.hash, root);
        }
      }
      return blobs;
    },
    async read(hash) {
      const root = homes.get(hash);
      return root === undefined ? undefined : readGit(root, ["cat-file", "blob", hash]);
    },
  };
}

async function unchangedIn(root: string): Promise<ReadonlyMap<string, Blob>> {
  if (!isInRepository(root)) return new Map();
  const [staged, overrides] = await Promise.all([readGit(root, ["ls-files", "--stage", "-z"]), withoutFilters(root)]);
  const changed = await readGit(root, ["ls-files", "--modified", "--deleted", "-z"], { settings: overrides });
  if (staged === undefined || changed === undefined) return new Map();
  const touched = new Set(changed.toString().split("\0"));
  const entries = staged
    .toString()
    .split("\0")
    .flatMap(stagedEntry)
    .filter(({ path }) => !touched.has(path));
  const sizes = await sizesOf(root, [...new Set(entries.map(({ hash }) => hash))]);
  return new Map(
    entries.flatMap(({ path, hash }) => {
      const size = sizes.get(hash);
      return size === undefined ? [] : [[join(root, path), { hash, size }] as const];
    }),
  );
}

type Setting = readonly [key: string, value: string];

/** Settings that disable the repository's filters, which are programs; a file with a filter counts as changed. */
async function withoutFilters(root: string): Promise<readonly Setting[]> {
  const names = await readGit(root, [
    "config",
    "--null",
    "--name-only",
    "--get-regexp",
    "^filter\\..*\\.(clean|process)$",
  ]);
  const filters = (names?.toString() ?? "").split("\0").filter((name) => name !== "");
  return filters.flatMap((name): Setting[] => [
    [name, ""],
    [name.replace(/[^.]+$/, "required"), "false"],
  ]);
}

/** Starting git for the answer that there is no repository takes 10 ms. */
function isInRepository(folder: string): boolean {
  const above = dirname(folder);
  return existsSync(join(folder, ".git")) || (above !== folder && isInRepository(above));
}

/** Parses `mode hash stage<TAB>path` for a regular file without a conflict. */
function stagedEntry(line: string): readonly { readonly path: string; readonly hash: string }[] {
  const [, hash = "", path = ""] = /^100\d{3} ([0-9a-f]{40,64}) 0\t([\s\S]+)$/.exec(line) ?? [];
  return path === "" ? [] : [{ path, hash }];
}

async function sizesOf(root: string, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const format = "--batch-check=%(objectname) %(objectsize)";
  const answer =
    hashes.length === 0 ? undefined : await readGit(root, ["cat-file", format], { input: `${hashes.join("\n")}\n` });
  const lines = (answer?.toString() ?? "").split("\n").map((line) => line.split(" "));
  return new Map(
    lines.flatMap(([hash = "", size = ""]) => (/^\d+$/.test(size) ? [[hash, Number(size)] as const] : [])),
  );
}

/** Output of git; undefined without git or a repository, and when git fails or takes too long. */
async function readGit(
  folder: string,
  args: readonly string[],
  { input = "", settings = [] }: { readonly input?: string; readonly settings?: readonly Setting[] } = {},
): Promise<Buffer | undefined> {
  const child = spawn("git", [...READ_ONLY, ...args], {
    cwd: folder,
    env: gitEnvironment(settings),
    stdio: ["pipe", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
    windowsHide: true,
  });
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) child.kill();
    else chunks.push(chunk);
  });
  child.stdin.on("error", () => undefined); // git ended without reading
  child.stdin.end(input);
  const isWhole = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  return isWhole ? Buffer.concat(chunks) : undefined;
}

/** Environment without variables that name another repository. */
function gitEnvironment(settings: readonly Setting[]): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), ...READ_ONLY_VARIABLES, ...asVariables(settings), LC_ALL: "C" };
}

/** Options cannot name a setting with an equals sign. */
function asVariables(settings: readonly Setting[]): NodeJS.ProcessEnv {
  const named = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(named) };
}
