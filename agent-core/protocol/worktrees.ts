/** Work trees of git for sessions that run side by side. */
import * as z from "zod";

/** End of the name of the folder that holds them, beside the main folder. */
export const WORKTREES = ".worktrees";
/** Path in a worktree; without all but its group, the one in the main folder. */
export const IN_WORKTREE = /^(.*)\.worktrees[\\/][^\\/]+/s;

/** `merge` and `rebase`: into the branch of the main folder. `branch`: the branch stays. `patch`: only a patch stays. */
export const HermesWorktreeEnd = z.enum(["merge", "rebase", "branch", "patch", "discard"]);
export type HermesWorktreeEnd = z.infer<typeof HermesWorktreeEnd>;

/** Paths are absolute. */
export const HermesWorktree = z.object({ path: z.string(), branch: z.string(), base: z.string() });
export type HermesWorktree = z.infer<typeof HermesWorktree>;

/** Counts: commits that the main folder has not, files that differ, and files that are not committed. */
export const HermesWorktreeState = HermesWorktree.extend({
  /** Branch of the main folder; null for a detached head. */
  baseBranch: z.string().nullable(),
  commits: z.number(),
  files: z.number(),
  uncommitted: z.number(),
});
export type HermesWorktreeState = z.infer<typeof HermesWorktreeState>;

/** `problems`: what of its set-up failed, one line each. */
const MadeWorktree = HermesWorktree.extend({ problems: z.array(z.string()).readonly() });
export type MadeWorktree = z.infer<typeof MadeWorktree>;

const inFolder = z.object({ cwd: z.string() });

/** All fail with -32603 and one line for people. */
export const worktreeMethods = {
  /** Makes a work tree at the present commit of the repository around `cwd`. */
  add: { name: "_hermes/worktree/add", params: inFolder.extend({ name: z.string().min(1) }), result: MadeWorktree },
  /** Work trees of sessions in the repository around `cwd`. */
  list: {
    name: "_hermes/worktree/list",
    params: inFolder,
    result: z.object({ worktrees: z.array(HermesWorktreeState).readonly() }),
  },
  /** Differences of the work tree that `cwd` lies in. `files`: the first of them; `text`: from before, null for a new file. */
  changes: {
    name: "_hermes/worktree/changes",
    params: inFolder,
    result: z.object({
      files: z.array(z.object({ path: z.string(), text: z.string().nullable(), isThere: z.boolean() })).readonly(),
      total: z.number(),
    }),
  },
  /** Ends the work tree that `cwd` lies in. `message`: for what is not committed. `file`: the patch, after that end. `conflicts`: files that kept it from its end. */
  end: {
    name: "_hermes/worktree/end",
    params: inFolder.extend({ end: HermesWorktreeEnd, message: z.string().exactOptional() }),
    result: z.object({
      message: z.string(),
      file: z.string().exactOptional(),
      conflicts: z.array(z.string()).readonly().exactOptional(),
    }),
  },
};
