/** Work trees of sessions: requests of clients, and the slash command `/worktree`. */
import { addWorktree, endWorktree, listWorktrees, savePatch, worktreeAt, worktreeState } from "../host/worktrees.ts";
import { UsageError } from "../platform/errors.ts";
import { HermesWorktreeEnd, type HermesWorktreeState } from "../protocol/worktrees.ts";

/** Message for what was not committed, when the client gives none. */
const MESSAGE = "Work of a Hermes session";

export async function worktreesAround(cwd: string): Promise<readonly HermesWorktreeState[]> {
  return Promise.all((await listWorktrees(cwd)).map(worktreeState));
}

/** Ends the work tree that `cwd` lies in. Rejects with an Error in one line, before anything is removed. */
export async function endAt(
  cwd: string,
  end: HermesWorktreeEnd,
  message = MESSAGE,
): Promise<{ readonly message: string; readonly file?: string }> {
  const worktree = await worktreeAt(cwd);
  if (worktree === undefined) throw new UsageError(`${cwd} is not in a worktree that Hermes made.`);
  if (end !== "patch") return { message: await endWorktree(worktree, end, message) };
  const file = await savePatch(worktree);
  return { message: `${await endWorktree(worktree, end, message)} Its changes are in ${file}.`, file };
}

/** Answer to `/worktree`. `title`: of the session. */
export async function answerWorktree(argument: string, cwd: string, title: string | undefined): Promise<string> {
  const [verb = "", ...words] = argument.trim().split(/\s+/);
  if (verb === "" || verb === "list") return listText(await worktreesAround(cwd), cwd);
  if (verb === "new") {
    const { path, branch } = await addWorktree(cwd, words.join(" "));
    return `The branch ${branch} is in \`${path}\`. Open that folder, and start a session there.`;
  }
  const end = HermesWorktreeEnd.safeParse(verb);
  if (!end.success) throw new UsageError("Type `/worktree new NAME`, or merge, rebase, branch, patch or discard.");
  if (end.data === "discard" && words[0] !== "confirm") {
    return "This deletes the worktree and its branch for good. Type `/worktree discard confirm`.";
  }
  return (await endAt(cwd, end.data, title)).message;
}

function listText(worktrees: readonly HermesWorktreeState[], cwd: string): string {
  const lines = worktrees.map(({ path, branch, commits, files, uncommitted }) => {
    const here = cwd === path ? " (here)" : "";
    return `- **${branch}**${here}: ${files} changed files, ${commits} commits, ${uncommitted} files not committed. \`${path}\``;
  });
  if (lines.length > 0) return lines.join("\n");
  return "There are no worktrees of sessions. `/worktree new NAME` makes one, with a branch of its own.";
}
