/** `--worktree`: work in a git worktree of its own, which is kept when it holds something new. */
import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";
import { loadConfig } from "../../agent-core/config/config.ts";
import { homeFolder } from "../../agent-core/config/home.ts";
import * as host from "../../agent-core/host/worktrees.ts";

type Place = { readonly cwd: string; readonly worktree: boolean };

/** Runs `work` in a new worktree and branch of the repository around `cwd`, if the option or config.yaml asks for it. */
export async function inWorktree(
  { cwd, worktree: isAsked }: Place,
  work: (cwd: string) => Promise<number>,
): Promise<number> {
  const { worktree: isSet, worktrees } = (await loadConfig(homeFolder(process.env), process.env)).config;
  if (!isAsked && !(isSet && (await host.startsInWorktree(cwd)))) return work(cwd);
  const name = `${new Date().toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
  const below = relative(await host.repositoryTop(cwd), cwd);
  const worktree = await host.makeWorktree(cwd, name, worktrees);
  const { path, branch, problems } = worktree;
  for (const line of [`working in ${path} on the branch ${branch}.`, ...problems])
    process.stderr.write(`hermes: ${line}\n`);
  try {
    return await work(join(path, below));
  } finally {
    const { commits, uncommitted } = await host.worktreeState(worktree);
    if (commits === 0 && uncommitted === 0) await host.endWorktree(worktree, "discard", "");
    else process.stderr.write(`hermes: the work is in ${path}. /worktree merge there brings it back.\n`);
  }
}
