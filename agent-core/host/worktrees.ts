/**
 * Work trees of git for sessions that run side by side: each has a folder and a branch of its own, beside the repository in
 * `NAME.worktrees/`, and ends as a merge, a branch, a patch, or not at all.
 */
import { existsSync, realpathSync } from "node:fs";
import { readdir, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import type {
  HermesWorktree as Worktree,
  HermesWorktreeEnd as WorktreeEnd,
  HermesWorktreeState as WorktreeState,
} from "../protocol/worktrees.ts";
import { gitLayout } from "./git-layout.ts";
import { type GitSetting, runGit } from "./run-git.ts";

/** Branches of such work trees begin with it. */
const PREFIX = "hermes/";
/** End of the name of the folder that holds them. */
const FOLDER = ".worktrees";
const MAX_NAME = 60;
/** A checkout of a large repository takes long. Milliseconds. */
const CHECKOUT_MS = 600_000;
/** The user's key may ask for a password. */
const UNSIGNED: readonly GitSetting[] = [["commit.gpgSign", "false"]];

/** Makes a work tree of the repository around `cwd` at its present commit. Rejects with an Error in one line. */
export async function addWorktree(cwd: string, name: string): Promise<Worktree> {
  const base = await baseOf(cwd);
  const word = wordOf(name);
  if (word === "") throw new UsageError("A worktree needs a name of letters, digits and hyphens.");
  const branch = `${PREFIX}${word}`;
  const path = join(dirname(base), `${basename(base)}${FOLDER}`, word);
  if (existsSync(path)) throw new UsageError(`${path} exists already. Choose another name.`);
  await git(cwd, ["worktree", "add", "-b", branch, path, "HEAD"], { timeoutMs: CHECKOUT_MS });
  return { path: realpathSync(path), branch, base };
}

/** Folder of the work tree around `cwd`. Throws an Error in one line without one. */
export async function repositoryTop(cwd: string): Promise<string> {
  const top = (await gitLayout(cwd))?.top;
  if (top === undefined) throw new UsageError(`${cwd} is not in a git repository.`);
  return top;
}

/** Work trees of sessions in the repository around `cwd`. */
export async function listWorktrees(cwd: string): Promise<readonly Worktree[]> {
  const base = await baseOf(cwd);
  return (await worktreesOf(base)).flatMap(({ path, branch }) =>
    branch?.startsWith(PREFIX) === true && dirname(path).endsWith(FOLDER) ? [{ path, branch, base }] : [],
  );
}

/** The work tree that `cwd` lies in; undefined elsewhere. */
export async function worktreeAt(cwd: string): Promise<Worktree | undefined> {
  const top = (await gitLayout(cwd))?.top;
  return top === undefined ? undefined : (await listWorktrees(cwd)).find(({ path }) => path === top);
}

export async function worktreeState(worktree: Worktree): Promise<WorktreeState> {
  const { path, base } = worktree;
  const [head, start] = [await git(base, ["rev-parse", "HEAD"]), await startOf(worktree)];
  const [commits, differing, status, name] = await Promise.all([
    git(path, ["rev-list", "--count", `${head}..HEAD`]),
    git(path, ["diff", "--name-only", "-z", start]),
    git(path, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]),
    git(base, ["branch", "--show-current"]),
  ]);
  const changes = status.split("\0").filter((line) => line !== "");
  const untracked = changes.filter((line) => line.startsWith("??")).length;
  return {
    ...worktree,
    baseBranch: name === "" ? null : name,
    commits: Number(commits),
    files: differing.split("\0").filter((line) => line !== "").length + untracked,
    uncommitted: changes.length,
  };
}

/** Writes the changes since both parted, with new files, as a patch for `git apply` beside the work tree. Gives its path. */
export async function savePatch(worktree: Worktree): Promise<string> {
  const { path } = worktree;
  await git(path, ["add", "--all", "--intent-to-add"]);
  const patch = await git(path, ["diff", "--binary", await startOf(worktree)]);
  const file = `${path}.patch`;
  await writeFile(file, `${patch}\n`, { flag: "wx" }); // an earlier patch stays
  return file;
}

/**
 * Ends a work tree. What is not committed is committed with `message` first, except for `patch` and `discard`. Nothing
 * changes when branches conflict: the Error names the files. Resolves to one line for people.
 */
export async function endWorktree(worktree: Worktree, end: WorktreeEnd, message: string): Promise<string> {
  const { path, branch, base } = worktree;
  if (end === "patch" || end === "discard") {
    await remove(worktree, { isForced: true });
    await git(base, ["branch", "-D", branch]);
    return `Removed ${path} and its branch.`;
  }
  await commitAll(worktree, message);
  if (end === "branch") {
    await remove(worktree);
    return `Removed ${path}. Its work is on the branch ${branch}.`;
  }
  const into = (await git(base, ["branch", "--show-current"])) || "the main folder";
  if (end === "rebase") await rebase(worktree, await git(base, ["rev-parse", "HEAD"]));
  else await checkConflicts(worktree, into);
  await git(base, ["merge", "--no-edit", ...(end === "rebase" ? ["--ff-only"] : []), branch], { settings: UNSIGNED });
  await remove(worktree);
  await git(base, ["branch", "-d", branch]);
  return `Merged ${branch} into ${into}, and removed ${path}.`;
}

async function commitAll({ path }: Worktree, message: string): Promise<void> {
  await git(path, ["add", "--all"]);
  if ((await git(path, ["status", "--porcelain"])) === "") return;
  await git(path, ["commit", "--quiet", "--no-verify", "-m", message], { settings: UNSIGNED });
}

async function checkConflicts({ path, base, branch }: Worktree, into: string): Promise<void> {
  const merged = await runGit(["merge-tree", "--write-tree", "--name-only", "--no-messages", "HEAD", branch], {
    cwd: base,
  });
  if (merged.exitCode === 0) return;
  if (merged.exitCode !== 1) throw failure("merge-tree", base, merged.stderr);
  const [, ...files] = merged.stdout.toString().trim().split("\n");
  throw new Error(
    `${branch} and ${into} both changed ${files.join(", ")}. Nothing was merged. Let the session in ${path} merge ${into} first.`,
  );
}

async function rebase({ path, branch }: Worktree, onto: string): Promise<void> {
  const rebased = await runGit(["rebase", "--quiet", onto], { cwd: path, settings: UNSIGNED });
  if (rebased.exitCode === 0) return;
  const files = await git(path, ["diff", "--name-only", "--diff-filter=U"]).catch(() => "");
  await runGit(["rebase", "--abort"], { cwd: path });
  const places = files === "" ? oneLine(rebased.stderr, 200) : `conflicts in ${files.split("\n").join(", ")}`;
  throw new Error(`${branch} cannot be rebased: ${places}. Nothing was changed.`);
}

async function remove({ path, base }: Worktree, { isForced = false } = {}): Promise<void> {
  await git(base, ["worktree", "remove", ...(isForced ? ["--force"] : []), path]);
  const holder = dirname(path);
  if ((await readdir(holder).catch(() => ["unknown"])).length === 0) await rmdir(holder);
}

/** Commit at which the work tree and the main folder parted. */
async function startOf({ path, base }: Worktree): Promise<string> {
  return git(path, ["merge-base", "HEAD", await git(base, ["rev-parse", "HEAD"])]);
}

type Listed = { readonly path: string; readonly branch: string | undefined };

/** The main work tree comes first. */
async function worktreesOf(cwd: string): Promise<readonly Listed[]> {
  const blocks = (await git(cwd, ["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  return blocks.flatMap((block): Listed[] => {
    const fields = block.split("\0");
    const value = (name: string): string | undefined =>
      fields.find((field) => field.startsWith(`${name} `))?.slice(name.length + 1);
    const path = value("worktree");
    if (path === undefined || fields.includes("bare") || value("prunable") !== undefined) return [];
    return [{ path, branch: value("branch")?.replace(/^refs\/heads\//, "") }];
  });
}

/** Main folder of the repository around `cwd`. */
async function baseOf(cwd: string): Promise<string> {
  const [main] = await worktreesOf(await repositoryTop(cwd));
  if (main === undefined) throw new UsageError("The repository has no folder with a checked-out branch.");
  return main.path;
}

function wordOf(name: string): string {
  const word = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return word.replace(/^-+/, "").slice(0, MAX_NAME).replace(/-+$/, "");
}

/** Output without the line break at its end. Rejects with git's own reason. */
async function git(
  cwd: string,
  args: readonly string[],
  options: { readonly settings?: readonly GitSetting[]; readonly timeoutMs?: number } = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(args, { cwd, ...options });
  if (exitCode === 0) return stdout.toString().replace(/[\n\0]$/, "");
  throw failure(args[0] ?? "", cwd, stderr);
}

function failure(command: string, cwd: string, stderr: string): Error {
  return new Error(`git ${command} failed in ${cwd}: ${oneLine(stderr, 400) || "git did not start, or took too long"}`);
}
