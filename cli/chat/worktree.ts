/** `--worktree`: work in a git worktree of its own, which is kept when it holds something new. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { captured } from "./outside.ts";

/** Runs `work` in a new worktree and branch of the repository around `cwd`. `home`: Hermes' home folder. */
export async function inWorktree(home: string, cwd: string, work: (cwd: string) => Promise<number>): Promise<number> {
  const git = async (folder: string, ...args: readonly string[]): Promise<string> => {
    const { ok, output } = await captured("git", args, folder);
    if (!ok) throw new UsageError(`--worktree: ${output.trim()}`);
    return output.trim();
  };
  const root = await git(cwd, "rev-parse", "--show-toplevel");
  const base = await git(root, "rev-parse", "HEAD");
  const name = `${new Date().toISOString().slice(0, 10)}-${randomBytes(3).toString("hex")}`;
  const branch = `hermes/${name}`;
  const folder = join(home, "worktrees", name);
  mkdirSync(join(home, "worktrees"), { recursive: true });
  await git(root, "worktree", "add", "-q", "-b", branch, folder, base);
  process.stderr.write(`hermes: working in ${folder} on the branch ${branch}.\n`);
  try {
    return await work(join(folder, relative(root, cwd)));
  } finally {
    const isSame =
      (await git(folder, "status", "--porcelain")) === "" && (await git(folder, "rev-parse", "HEAD")) === base;
    if (isSame) {
      await git(root, "worktree", "remove", folder);
      await git(root, "branch", "-q", "-D", branch);
    } else process.stderr.write(`hermes: the work is in ${folder} on the branch ${branch}.\n`);
  }
}
