/**
 * Work trees of git for sessions that run side by side: each has a folder and a branch of its own, beside the repository in
 * `NAME.worktrees/`, and ends as a merge, a branch, a patch, or not at all.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { cp, readdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type * as z from "zod";
import type { Config } from "../config/sections.ts";
import { runShell } from "../platform/children/run-filter.ts";
import { messageOf, UsageError } from "../platform/errors.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { oneLine } from "../platform/one-line.ts";
import { decodeText } from "../platform/text-file.ts";
import {
  type MadeWorktree,
  WORKTREES,
  type HermesWorktree as Worktree,
  type HermesWorktreeEnd as WorktreeEnd,
  type HermesWorktreeState as WorktreeState,
  type worktreeMethods,
} from "../protocol/worktrees.ts";
import { gitLayout } from "./git-layout.ts";
import { type GitSetting, runGit } from "./run-git.ts";

/** Branches that are made for such work trees begin with it. */
const PREFIX = "hermes/";
/** File in the git folder of such a work tree, with the branch that was made for it: a session may check out another. */
const MARK = "hermes-branch";
/** Characters of a name: as many whole words as fit. */
const MAX_NAME = 40;
/** A large repository takes long to check out, to commit and to remove. Milliseconds. */
const LONG_MS = 600_000;
/** Files of a preview. */
const MAX_SHOWN = 100;
/** Limit of each text of a preview. Bytes. */
const MAX_TEXT = 1_000_000;
/** Processes that write files side by side: two and a half times as fast with two cores. */
const CHECKOUT: readonly GitSetting[] = [["checkout.workers", "8"]];
/** The installation of a large project's packages takes minutes. Milliseconds. */
const SETUP_MS = 900_000;
/** The user's key may ask for a password. */
const UNSIGNED: readonly GitSetting[] = [["commit.gpgSign", "false"]];
const UNMERGED = ["diff", "--name-only", "-z", "--diff-filter=U"];

/**
 * Makes a work tree of the repository around `cwd` at its present commit. `name`: of the task, or the task itself, whose
 * first words name it. A name that is taken gets a number. Rejects with an Error in one line.
 */
export async function addWorktree(cwd: string, name: string): Promise<Worktree> {
  const base = (await worktreesAround(cwd))[0]?.path ?? cwd;
  const wanted = wordOf(name);
  if (wanted === "") throw new UsageError("A worktree needs a name of letters, digits and hyphens.");
  const { exitCode } = await runGit(["rev-parse", "--verify", "--quiet", "HEAD"], { cwd });
  if (exitCode === 1) throw new UsageError("The repository has no commit yet, and a worktree starts from one.");
  const folder = join(dirname(base), `${basename(base)}${WORKTREES}`);
  const isTaken = async (word: string): Promise<boolean> =>
    [word, `${word}.patch`].some((name) => existsSync(join(folder, name))) ||
    (await git(cwd, ["for-each-ref", `refs/heads/${PREFIX}${word}`])) !== "";
  let word = wanted;
  for (let count = 2; await isTaken(word); count += 1) word = `${wanted}-${count}`;
  const [branch, path] = [`${PREFIX}${word}`, join(folder, word)];
  await git(cwd, ["worktree", "add", "-b", branch, path, "HEAD"], CHECKOUT);
  await writeFile(await markOf(path), branch);
  return { path: realpathSync(path), branch, base };
}

/** Makes a work tree, with its copies and its set-up. A set-up that fails leaves the work tree; the signal discards it. */
export async function makeWorktree(
  cwd: string,
  name: string,
  { copy, setup }: Config["worktrees"],
  signal = new AbortController().signal,
): Promise<MadeWorktree> {
  const worktree = await addWorktree(cwd, name);
  try {
    await copyIgnored(worktree, copy);
    signal.throwIfAborted();
    for (const command of setup) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(SETUP_MS)]);
      const { exitCode, output, errors } = await runShell(command, worktree.path, limit);
      if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}. ${oneLine(errors || output, 300)}`);
    }
    return { ...worktree, problems: [] };
  } catch (error) {
    if (!signal.aborted) return { ...worktree, problems: [`The set-up of the worktree failed: ${messageOf(error)}`] };
    await endWorktree(worktree, "discard", "");
    throw error;
  }
}

/** Copies files that git ignores from the main folder. `patterns`: globs from its top. */
export async function copyIgnored({ path, base }: Worktree, patterns: readonly string[]): Promise<void> {
  if (patterns.length === 0) return;
  const wanted = patterns.map((pattern) => `:(top,glob)${pattern}`);
  const listed = await git(base, ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ...wanted]);
  for (const file of partsOf(listed))
    await cp(join(base, file), join(path, file), { verbatimSymlinks: true, force: false });
}

/** Folder of the work tree around `cwd`. Throws an Error in one line without one. */
export async function repositoryTop(cwd: string): Promise<string> {
  const top = (await gitLayout(cwd))?.top;
  if (top === undefined) throw new UsageError(`${cwd} is not in a git repository.`);
  return top;
}

/** Work trees of sessions in the repository around `cwd`. One without a branch has the name `HEAD` for it. */
export async function listWorktrees(cwd: string): Promise<readonly Worktree[]> {
  const all = await worktreesAround(cwd);
  const isOurs = await Promise.all(all.map(async ({ path }) => existsSync(await markOf(path))));
  return all.flatMap(({ path, branch = "HEAD" }, index) => {
    const isNamed = branch.startsWith(PREFIX) && dirname(path).endsWith(WORKTREES);
    return isNamed || isOurs[index] ? [{ path, branch, base: all[0]?.path ?? path }] : [];
  });
}

const markOf = async (path: string): Promise<string> => join((await gitLayout(path))?.own ?? path, MARK);

/** Branch that was made for the work tree. */
async function ownBranch({ path, branch }: Worktree): Promise<string> {
  const mark = await markOf(path);
  return existsSync(mark) ? readFileSync(mark, "utf8") : branch;
}

/** The work tree that `cwd` lies in; undefined elsewhere. */
export async function worktreeAt(cwd: string): Promise<Worktree | undefined> {
  const top = (await gitLayout(cwd))?.top;
  return top === undefined ? undefined : (await listWorktrees(cwd)).find(({ path }) => path === top);
}

/** The same. Rejects with an Error in one line elsewhere. */
export async function worktreeOf(cwd: string): Promise<Worktree> {
  const worktree = await worktreeAt(cwd);
  if (worktree !== undefined) return worktree;
  throw new UsageError(`${cwd} is ${existsSync(cwd) ? "not in a worktree that Hermes made" : "gone"}.`);
}

/** True for a folder from which a new session gets a worktree: its repository has a commit, and it is in no such worktree. */
export async function startsInWorktree(cwd: string): Promise<boolean> {
  if ((await gitLayout(cwd)) === undefined) return false;
  const { exitCode } = await runGit(["rev-parse", "--verify", "--quiet", "HEAD"], { cwd });
  return exitCode === 0 && (await worktreeAt(cwd)) === undefined;
}

export async function worktreeState(worktree: Worktree): Promise<WorktreeState> {
  const { path, base } = worktree;
  const head = await git(base, ["rev-parse", "HEAD"]);
  const own = `refs/heads/${await ownBranch(worktree)}`; // its session may have left it, or removed it
  const [commits, differing, status, name] = await Promise.all([
    git(path, ["rev-list", "--count", "--ignore-missing", `^${head}`, "HEAD", own]),
    git(path, ["diff", "--name-only", "-z", "--merge-base", head]),
    git(path, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]),
    git(base, ["branch", "--show-current"]),
  ]);
  const changes = partsOf(status);
  const untracked = changes.filter((line) => line.startsWith("??")).length;
  return {
    ...worktree,
    baseBranch: name === "" ? null : name,
    commits: Number(commits),
    files: partsOf(differing).length + untracked,
    uncommitted: changes.length,
  };
}

/** Files that differ from the commit where both parted, with their texts there. Binary, large and special files are counted alone. */
export async function worktreeChanges({ path, base }: Worktree): Promise<Changes> {
  const parted = await git(path, ["merge-base", await git(base, ["rev-parse", "HEAD"]), "HEAD"]);
  const [differing, untracked] = await Promise.all([
    git(path, ["diff", "--name-only", "--no-renames", "-z", parted]),
    git(path, ["ls-files", "--others", "--exclude-standard", "-z"]),
  ]);
  const names = [...partsOf(differing), ...partsOf(untracked)];
  const files: Changes["files"][number][] = [];
  for (const name of names.slice(0, MAX_SHOWN)) {
    const file = join(path, name);
    const now = await stat(file).catch(() => undefined); // a link may lead nowhere
    const isThere = now?.isFile() === true;
    const { exitCode, stdout } = await runGit(["cat-file", "blob", `${parted}:${name}`], { cwd: path });
    const isLarge = exitCode === null || Math.max(stdout.length, isThere ? now.size : 0) > MAX_TEXT;
    const text = exitCode === 0 ? decodeText(stdout) : null;
    if (!isLarge && text !== undefined && (text !== null || isThere)) files.push({ path: file, text, isThere });
  }
  return { files, total: names.length };
}

/** Writes the changes since both parted, with new files, as a patch for `git apply` beside the work tree. Gives its path. */
async function savePatch({ path, base }: Worktree): Promise<string> {
  const file = `${path}.patch`;
  if (existsSync(file)) throw new UsageError(`${file} exists already. Move it elsewhere first.`);
  await git(path, ["add", "--all", "--intent-to-add"]);
  const patch = await git(path, ["diff", "--binary", "--merge-base", await git(base, ["rev-parse", "HEAD"])]);
  await writeFile(file, `${patch}\n`, { flag: "wx" });
  return file;
}

type Changes = z.infer<typeof worktreeMethods.changes.result>;
type Ended = z.infer<typeof worktreeMethods.end.result>;

/**
 * Ends a work tree, one at a time in a repository. What is not committed is committed with `message` first, except for `patch`
 * and `discard`. Nothing changes when branches conflict, or while a merge in it is not finished: the result names the files.
 * Only `discard` removes commits that are nowhere else.
 */
export async function endWorktree(worktree: Worktree, end: WorktreeEnd, message: string): Promise<Ended> {
  const folder = (await gitLayout(worktree.base))?.common ?? worktree.base;
  return withLock(join(folder, "hermes-worktrees.lock"), () => endAlone(worktree, end, message));
}

async function endAlone(worktree: Worktree, end: WorktreeEnd, message: string): Promise<Ended> {
  const { path, branch, base } = worktree;
  if (!existsSync(path)) throw new Error(`${path} is gone.`);
  if (existsSync(join(dirname(await markOf(path)), "locked")))
    throw new UsageError(`git has locked ${path}. Type \`git worktree unlock\` with this path first.`);
  const own = await ownBranch(worktree);
  /** Removes the branch that was made for the work tree. The session's other branches stay. */
  const removeBranch = async (option: "-d" | "-D"): Promise<string> => {
    await runGit(["branch", option, own], { cwd: base });
    const names = [own, branch].map((name) => `refs/heads/${name}`);
    const left = await git(base, ["for-each-ref", "--format=%(refname:short)", ...names]);
    return left === "" ? " and its branch." : `. The branch stays: ${left.replaceAll("\n", ", ")}.`;
  };
  if (end === "discard") {
    await remove(worktree, true);
    return { message: `Removed ${path}${await removeBranch("-D")}` };
  }
  const obstacle = await unfinishedIn(worktree);
  if (obstacle !== undefined) return obstacle;
  const isForced = await refuseLossIn(worktree);
  if (end === "patch") {
    const file = await savePatch(worktree);
    const { exitCode } = await runGit(["merge-base", "--is-ancestor", own, "HEAD"], { cwd: path });
    await remove(worktree, true);
    const removed = `Removed ${path}${await removeBranch(exitCode === 0 ? "-D" : "-d")}`;
    return { message: `${removed} Its changes are in ${file}.`, file };
  }
  if (branch === "HEAD") throw new UsageError(`${path} is on no branch. Check one out there first.`);
  await commitAll(worktree, message);
  if (end === "branch") {
    await remove(worktree, isForced);
    return { message: `Removed ${path}. Its work is on the branch ${branch}.` };
  }
  const onto = await git(base, ["branch", "--show-current"]);
  const into = onto || "the main folder";
  const isRebase = end === "rebase";
  const head = await git(base, ["rev-parse", "HEAD"]);
  const conflict = isRebase ? await rebase(worktree, head) : await conflictsWith(worktree, into);
  if (conflict !== undefined) return conflict;
  await merge(worktree, head, isRebase ? ["--ff-only"] : []);
  await remove(worktree, isForced);
  const left = onto === "" ? `. The branch stays: ${branch}.` : await removeBranch("-d");
  return { message: `Merged ${branch} into ${into}, and removed ${path}${left}` };
}

/** Files with conflicts would be committed with the marks of git. Throws in a rebase without, whose branch lacks what is done. */
async function unfinishedIn({ path }: Worktree): Promise<Ended | undefined> {
  const conflicts = partsOf(await git(path, UNMERGED));
  const isRebase = (await readdir(dirname(await markOf(path)))).some((name) => /^rebase-(merge|apply)$/.test(name));
  const unfinished = `A ${isRebase ? "rebase" : "merge"} in ${path} is not finished`;
  if (conflicts.length === 0 && isRebase) throw new UsageError(`${unfinished}. Let its session finish it first.`);
  if (conflicts.length === 0) return undefined;
  const message = `${unfinished}: ${conflicts.join(", ")}. Nothing was changed. Let its session resolve it first.`;
  return { message, conflicts };
}

/** Throws an Error in one line when a repository inside has work that is nowhere else. True with submodules: git wants force. */
async function refuseLossIn({ path }: Worktree): Promise<boolean> {
  const inside = await repositoriesIn(path);
  const lost = [...inside].flatMap(([name, isLost]) => (isLost ? [name] : [])).join(", ");
  if (lost === "") return inside.size > 0;
  throw new UsageError(
    `Work in repositories would go with the worktree: ${lost}. Push it, or move it elsewhere, first.`,
  );
}

/** Submodules, true with work that is nowhere else. So are repositories that git does not track: it would keep their names alone. */
async function repositoriesIn(top: string): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const line of partsOf(await git(top, ["ls-files", "--stage", "--others", "--exclude-standard", "-z"]))) {
    const [, link = "", untracked = link] = /^160000 \S+ \d\t(.+)$|^(.+)\/$/s.exec(line) ?? [];
    if (untracked !== "") found.set(untracked, link === "");
    const path = join(top, link);
    if (link === "" || !existsSync(join(path, ".git"))) continue;
    const commits = ["rev-list", "--max-count=1", "--exclude=refs/tags/*", "--all", "HEAD", "--not", "--remotes"];
    found.set(link, (await git(path, ["status", "--porcelain"])) + (await git(path, commits)) !== "");
    for (const [name, isLost] of await repositoriesIn(path)) found.set(`${link}/${name}`, isLost);
  }
  return found;
}

/** Merges the branch into the main folder at `head`. Files that git could not write, on a full disk, are as they were before. */
async function merge({ base, branch }: Worktree, head: string, options: readonly string[]): Promise<void> {
  const differing = (filter: string) =>
    git(base, ["diff", "--name-only", "--no-renames", "-z", `--diff-filter=${filter}`, head, branch]);
  const own = new Set(partsOf(await git(base, ["diff", "--name-only", "--no-renames", "-z", head])));
  const added = partsOf(await differing("A")).filter((file) => !existsSync(join(base, file)));
  const changed = partsOf(await differing("a")).filter((file) => !own.has(file));
  const run = { cwd: base, settings: UNSIGNED, timeoutMs: LONG_MS };
  const merged = await runGit(["merge", "--no-edit", ...options, branch], run);
  if (merged.exitCode === 0) return;
  if ((await git(base, ["rev-parse", "HEAD"])) === head) {
    const fromInput = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    for (const file of added) await rm(join(base, file), { force: true });
    const takeBack = ["rm", "--cached", "--quiet", "--ignore-unmatch", ...fromInput];
    if (added.length > 0) await runGit(takeBack, { cwd: base, input: added.join("\0") });
    const putBack = ["restore", `--source=${head}`, "--staged", "--worktree", ...fromInput];
    if (changed.length > 0) await runGit(putBack, { cwd: base, input: changed.join("\0") });
  }
  throw failure("merge", base, merged.stderr);
}

async function commitAll({ path }: Worktree, message: string): Promise<void> {
  await git(path, ["add", "--all"]);
  if ((await git(path, ["status", "--porcelain"])) === "") return;
  await git(path, ["commit", "--quiet", "--no-verify", "-m", message], UNSIGNED);
}

async function conflictsWith({ path, base, branch }: Worktree, into: string): Promise<Ended | undefined> {
  const merge = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "HEAD", branch];
  const merged = await runGit(merge, { cwd: base });
  if (merged.exitCode === 0) return undefined;
  if (merged.exitCode !== 1) throw failure("merge-tree", base, merged.stderr);
  const [, ...files] = merged.stdout.toString().trim().split("\n");
  const message = `${branch} and ${into} both changed ${files.join(", ")}. Nothing was merged. Let the session in ${path} merge ${into} first.`;
  return { message, conflicts: files };
}

async function rebase({ path, branch }: Worktree, onto: string): Promise<Ended | undefined> {
  const rebased = await runGit(["rebase", "--quiet", onto], { cwd: path, settings: UNSIGNED, timeoutMs: LONG_MS });
  if (rebased.exitCode === 0) return undefined;
  const conflicts = partsOf(await git(path, UNMERGED).catch(() => ""));
  await runGit(["rebase", "--abort"], { cwd: path });
  const places = conflicts.length === 0 ? oneLine(rebased.stderr, 200) : `conflicts in ${conflicts.join(", ")}`;
  return { message: `${branch} cannot be rebased: ${places}. Nothing was changed.`, conflicts };
}

async function remove({ path, base }: Worktree, isForced: boolean): Promise<void> {
  await git(base, ["worktree", "remove", ...(isForced ? ["--force"] : []), path]);
  await rmdir(dirname(path)).catch(() => undefined); // others are in it
}

/** The main work tree comes first. Throws an Error in one line without one. */
async function worktreesAround(cwd: string): Promise<readonly { readonly path: string; readonly branch?: string }[]> {
  const blocks = (await git(await repositoryTop(cwd), ["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  const found = blocks.flatMap((block) => {
    const fields = new Map(block.split("\0").map((field) => [field.split(" ", 1)[0], field.replace(/^\S+ ?/, "")]));
    const [path, branch] = [fields.get("worktree"), fields.get("branch")?.replace(/^refs\/heads\//, "")];
    if (path === undefined || fields.has("bare") || fields.has("prunable")) return [];
    return [{ path, ...(branch !== undefined && { branch }) }];
  });
  if (found.length === 0) throw new UsageError("The repository has no folder with a checked-out branch.");
  return found;
}

function wordOf(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  let word = (words[0] ?? "").slice(0, MAX_NAME);
  for (const next of words.slice(1))
    if (word.length + next.length < MAX_NAME) word += `-${next}`;
    else break;
  return word;
}

/** Output without the line break at its end. Rejects with git's own reason. */
async function git(cwd: string, args: readonly string[], settings: readonly GitSetting[] = []): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(args, { cwd, timeoutMs: LONG_MS, settings });
  if (exitCode === 0) return stdout.toString().replace(/[\n\0]$/, "");
  throw failure(args[0] ?? "", cwd, stderr);
}

/** Pieces of what git lists with `-z`. */
const partsOf = (list: string): readonly string[] => list.split("\0").filter((part) => part !== "");

function failure(command: string, cwd: string, stderr: string): Error {
  if (!existsSync(cwd)) return new Error(`${cwd} is gone.`);
  return new Error(`git ${command} failed in ${cwd}: ${oneLine(stderr, 400) || "git did not start, or took too long"}`);
}
