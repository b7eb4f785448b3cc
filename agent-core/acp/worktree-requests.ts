/** Work trees of sessions: requests of clients, and the slash command `/worktree`. */
import * as host from "../host/worktrees.ts";
import { UsageError } from "../platform/errors.ts";
import { pathBelow, resolvePath } from "../platform/paths.ts";
import { HermesWorktreeEnd, type HermesWorktreeState } from "../protocol/worktrees.ts";
import type { CommandSession } from "./commands/command.ts";
import type { SessionParams } from "./session-params.ts";

/** Message for what was not committed, when the client gives none. */
const MESSAGE = "Work of a Hermes session";

export async function worktreesAround(cwd: string): Promise<readonly HermesWorktreeState[]> {
  return Promise.all((await host.listWorktrees(cwd)).map(host.worktreeState));
}

type Ending = { readonly cwd: string; readonly end: HermesWorktreeEnd; readonly message?: string | undefined };

/** Ends the work tree that `cwd` lies in, unless a session works there. Rejects with an Error in one line, before anything is removed. */
export async function endAt({ cwd, end, message = MESSAGE }: Ending, isBusyIn: (folder: string) => Promise<boolean>) {
  const worktree = await host.worktreeOf(cwd);
  if (await isBusyIn(worktree.path)) throw new UsageError(`A session works in ${worktree.path}. Stop it first.`);
  return host.endWorktree(worktree, end, message);
}

export async function changesAt(cwd: string) {
  return host.worktreeChanges(await host.worktreeOf(cwd));
}

/** Parameters of a session that was in the folder `cwd`: in a worktree of the same repository it goes on there. */
export async function inWorktree(cwd: string, params: SessionParams): Promise<SessionParams> {
  if (cwd === "" || cwd === params.cwd) return params;
  const worktree = await host.worktreeAt(cwd).catch(() => undefined); // the folder is gone
  const isOfFolder = worktree && pathBelow(resolvePath(worktree.base), resolvePath(params.cwd)) !== undefined;
  return isOfFolder ? { ...params, cwd, otherFolders: [] } : params;
}

/** Answer to `/worktree`. */
export async function answerWorktree(argument: string, session: CommandSession): Promise<string> {
  const { cwd, worktrees, agent, signal, sessions, id } = session;
  const [verb = "", ...words] = argument.trim().split(/\s+/);
  if (verb === "" || verb === "list") return listText(await worktreesAround(cwd), cwd);
  if (verb === "new") {
    const { path, branch, problems } = await host.makeWorktree(cwd, words.join(" "), worktrees, signal);
    const made = `The branch ${branch} is in \`${path}\`. Open that folder, and start a session there.`;
    return [made, ...problems].join("\n\n");
  }
  const end = HermesWorktreeEnd.safeParse(verb);
  if (!end.success) throw new UsageError("Type `/worktree new NAME`, or merge, rebase, branch, patch or discard.");
  if (end.data === "discard" && words[0] !== "confirm") {
    return "This deletes the worktree and its branch for good. Type `/worktree discard confirm`.";
  }
  const ending = { cwd, end: end.data, message: agent.session.title };
  return (await endAt(ending, (folder) => sessions.isBusyIn(folder, id))).message;
}

function listText(worktrees: readonly HermesWorktreeState[], cwd: string): string {
  const lines = worktrees.map(({ path, branch, commits, files, uncommitted }) => {
    const here = cwd === path ? " (here)" : "";
    return `- **${branch}**${here}: ${files} changed files, ${commits} commits, ${uncommitted} files not committed. \`${path}\``;
  });
  if (lines.length > 0) return lines.join("\n");
  return "There are no worktrees of sessions. `/worktree new NAME` makes one, with a branch of its own.";
}
