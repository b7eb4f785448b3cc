/** Layout of the repository around a folder, as git itself finds it: linked worktrees, submodules, bare repositories. */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../platform/errors.ts";
import { statOf } from "../platform/paths.ts";
import { type GitFolders, type GitResult, runGit, runGitSync } from "./run-git.ts";

export type GitLayout = GitFolders & {
  /**
   * True when the shared git folder is part of the work tree, or names the work tree itself: a linked worktree that it
   * lists, a submodule. False for a `.git` file that may name the git folder of any other repository.
   */
  readonly isMutual: boolean;
};

/**
 * Nearest folder from `folder` upwards with a `.git`, below `home` where one is given. Starting git for the answer that
 * there is none takes 10 ms.
 */
export function repositoryOf(folder: string, home?: string): string | undefined {
  const above = dirname(folder);
  if (folder === home || above === folder) return undefined;
  return statOf(join(folder, ".git")) === undefined ? repositoryOf(above, home) : folder;
}

/** The checked out branch or commit, read without starting git; undefined without a repository. */
export function headOf(folder: string): string | undefined {
  const place = repositoryOf(folder);
  if (place === undefined) return undefined;
  const named = join(place, ".git");
  const isFolder = statOf(named)?.isDirectory() === true;
  const link = attempt(() =>
    isFolder
      ? named
      : readFileSync(named, "utf8")
          .replace(/^gitdir: /, "")
          .trim(),
  );
  return link && attempt(() => readFileSync(join(resolve(place, link), "HEAD"), "utf8").trim());
}

/** Branch that git has in `folder`; undefined without one, and for a detached head. */
export function branchIn(folder: string): string | undefined {
  return /^ref: refs\/heads\/(.+)$/.exec(headOf(folder) ?? "")?.[1];
}

type Known = { readonly layout: GitLayout; readonly state: string };

/** Answers of git by the folder with the `.git`. They hold until one of the files changes that git read for them. */
const known = new Map<string, Known>();

/**
 * Layout of the repository around `folder` (absolute). Undefined without one, without git, and for a repository that git
 * refuses to use, such as one of another user.
 */
export async function gitLayout(folder: string): Promise<GitLayout | undefined> {
  const place = repositoryOf(folder);
  if (place === undefined) return undefined;
  return fresh(place) ?? keep(place, await runGit(QUESTION, { cwd: place }));
}

/** The same at once: a command is judged without waiting. */
export function gitLayoutSync(folder: string): GitLayout | undefined {
  const place = repositoryOf(folder);
  if (place === undefined) return undefined;
  return fresh(place) ?? keep(place, runGitSync(QUESTION, { cwd: place }));
}

/** The work tree comes last: a bare repository has none, and git then fails after the first two answers. */
const QUESTION = ["rev-parse", "--git-dir", "--git-common-dir", "--show-toplevel"];

function fresh(place: string): GitLayout | undefined {
  const answer = known.get(place);
  return answer?.state === stateOf(place, answer?.layout) ? answer?.layout : undefined;
}

function keep(place: string, result: GitResult): GitLayout | undefined {
  const layout = readLayout(place, result);
  if (layout === undefined) known.delete(place);
  else known.set(place, { layout, state: stateOf(place, layout) });
  return layout;
}

function readLayout(place: string, { stdout }: GitResult): GitLayout | undefined {
  const [own = "", common = "", top = ""] = stdout.toString().split("\n");
  const real = (path: string): string => realpathSync(resolve(place, path));
  if (own === "" || common === "") return undefined;
  // A folder may have gone away meanwhile.
  return attempt(() => {
    const folders = { own: real(own), common: real(common), top: top === "" ? undefined : real(top) };
    return { ...folders, isMutual: isMutual(folders) };
  });
}

/** A worktree's folder in the repository names the worktree; a submodule's settings name its work tree. */
function isMutual({ top, own, common }: GitFolders): boolean {
  if (own === common) return top === undefined || join(top, ".git") === own || namesWorkTree(own, top);
  if (top === undefined || dirname(own) !== join(common, "worktrees")) return false;
  // Otherwise the repository does not list it.
  const back = attempt(() => resolve(own, readFileSync(join(own, "gitdir"), "utf8").trim()));
  return back !== undefined && attempt(() => realpathSync(dirname(back))) === top;
}

function namesWorkTree(own: string, top: string): boolean {
  const { stdout } = runGitSync(["config", "--local", "--get", "core.worktree"], {
    cwd: top,
    folders: { top, own, common: own },
  });
  const named = stdout.toString().replace(/\n$/, "");
  return named !== "" && resolve(own, named) === top;
}

/** Changes with each file that git reads to find the layout. */
function stateOf(place: string, layout: GitLayout | undefined): string {
  if (layout === undefined) return "";
  const { own, common } = layout;
  const files = [join(place, ".git"), join(own, "commondir"), join(own, "gitdir"), join(common, "config")];
  const facts = files.map(statOf).map((stat) => {
    // The time of a folder changes with each entry in it.
    if (stat?.isDirectory()) return [stat.dev, stat.ino];
    return stat && [stat.dev, stat.ino, stat.ctimeMs, stat.size];
  });
  return JSON.stringify(facts);
}
