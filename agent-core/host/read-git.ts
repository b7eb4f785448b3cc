/** Runs the user's git. Never writes to a repository, and never runs a program of the repository. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

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

type Setting = readonly [key: string, value: string];

/** Settings that disable the repository's filters, which are programs; a file with a filter counts as changed. */
export async function withoutFilters(root: string): Promise<readonly Setting[]> {
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

/** Folder above `folder`, or itself, with a `.git`. Starting git for the answer that there is none takes 10 ms. */
export function repositoryOf(folder: string): string | undefined {
  const above = dirname(folder);
  if (existsSync(join(folder, ".git"))) return folder;
  return above === folder ? undefined : repositoryOf(above);
}

/** The checked out commit or branch, without starting git. Rejects with the system's error. */
export async function checkedOut(
  root: string,
): Promise<{ readonly branch: string | undefined; readonly commit: string }> {
  const pointer = await readFile(join(root, ".git"), "utf8").catch(() => "");
  const [, folder = ".git"] = /^gitdir: (.+)/.exec(pointer) ?? []; // a work tree has its HEAD elsewhere
  const head = await readFile(join(isAbsolute(folder) ? folder : join(root, folder), "HEAD"), "utf8");
  const [, branch] = /^ref: refs\/heads\/(.+)/.exec(head) ?? [];
  return { branch, commit: head.trim() };
}

/** The status of a large work tree may take seconds. Nobody waits that long for it. */
const STATUS_TIMEOUT_MS = 2_000;

export type ChangedFile = {
  /** One or two letters of git: `M`, `A`, `??` … */
  readonly status: string;
  /** Relative to the repository. */
  readonly path: string;
};

/** Changed and new files; undefined without git, and when git fails or takes too long. Submodules are left out. */
export async function changedFiles(root: string): Promise<readonly ChangedFile[] | undefined> {
  const settings = (await mayFilter(root)) ? await withoutFilters(root) : [];
  // Git would run again in each submodule, whose settings are not checked.
  const args = ["status", "--porcelain", "-z", "--ignore-submodules=all"];
  const output = await readGit(root, args, { settings, timeoutMs: STATUS_TIMEOUT_MS });
  return output && [...changesIn(output.toString().split("\0"))];
}

function* changesIn(entries: readonly string[]): Generator<ChangedFile> {
  let isOldName = false;
  for (const entry of entries) {
    if (entry !== "" && !isOldName) yield { status: entry.slice(0, 2).trim(), path: entry.slice(3) };
    isOldName = !isOldName && /^[RC]/.test(entry); // the old name of a renamed file is an entry of its own
  }
}

/** False when the repository's own settings name no program for the contents of files. */
async function mayFilter(root: string): Promise<boolean> {
  const config = await readFile(join(root, ".git", "config"), "utf8").catch(() => undefined);
  return config === undefined || /filter|include|worktreeConfig/i.test(config);
}

type GitOptions = {
  readonly input?: string;
  readonly settings?: readonly Setting[];
  /** Default 20,000. */
  readonly timeoutMs?: number;
};

/** Output of git; undefined without git or a repository, and when git fails or takes too long. */
export async function readGit(
  folder: string,
  args: readonly string[],
  { input = "", settings = [], timeoutMs = TIMEOUT_MS }: GitOptions = {},
): Promise<Buffer | undefined> {
  const child = spawn("git", [...READ_ONLY, ...args], {
    cwd: folder,
    env: gitEnvironment(settings),
    stdio: ["pipe", "pipe", "ignore"],
    timeout: timeoutMs,
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
