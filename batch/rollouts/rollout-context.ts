/** Access of an environment to the workspace of one rollout, and the ready rewards. */
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathBelow } from "../../agent-core/platform/paths.ts";
import type { RunCommand } from "../agent-session.ts";

/** Access to the workspace of one rollout. Paths are relative to it, and lead nowhere else. */
export type RolloutContext = {
  /** Runs a command where the agent's commands ran, in their sandbox. */
  run(command: string): Promise<{ readonly exitCode: number | null; readonly output: string }>;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  /** A model's answer to a question about the result: a number from 0 to 1. */
  judge(question: string): Promise<number>;
  readonly rewards: Rewards;
};

export type ContextParts = {
  readonly workspace: string;
  readonly run: RunCommand;
  readonly judge: (question: string) => Promise<number>;
};

export function rolloutContext({ workspace, run, judge }: ContextParts): RolloutContext {
  const place = (path: string): Promise<string> => placeIn(workspace, path);
  const own = {
    run: (command: string) => run(command),
    judge,
    read: async (path: string) => readFile(await place(path), "utf8"),
    exists: async (path: string) => {
      const at = await place(path);
      return stat(at).then(
        () => true,
        () => false,
      );
    },
    async write(path: string, text: string) {
      const at = await place(path);
      await mkdir(dirname(at), { recursive: true });
      await writeFile(at, text);
    },
  };
  return { ...own, rewards: readyRewards(own) };
}

/** The agent may have made links that lead out of its workspace. */
async function placeIn(workspace: string, path: string): Promise<string> {
  const root = await realpath(workspace);
  const wanted = join(root, path);
  for (let existing = wanted; ; existing = dirname(existing)) {
    const real = await realpath(existing).catch(() => undefined);
    if (real === undefined) continue;
    if (real === root || pathBelow(root, real) !== undefined) return wanted;
    throw new Error(`${path} leads out of the workspace`);
  }
}

/** Each gives 1 or 0, and a judge a number between. */
type Rewards = {
  /** 1 when the command ends with this exit code. */
  exitCode(command: string, expected?: number): Promise<number>;
  /** 1 when the file has exactly this text, apart from space around it. */
  fileEquals(path: string, text: string): Promise<number>;
  fileMatches(path: string, pattern: RegExp): Promise<number>;
  /** 1 when the command of the tests ends with 0, else the share of the tests that pass where its output says so. */
  testsPass(command: string): Promise<number>;
  judge(question: string): Promise<number>;
};

function readyRewards(ctx: Omit<RolloutContext, "write" | "rewards">): Rewards {
  const readOrNothing = async (path: string): Promise<string | undefined> =>
    (await ctx.exists(path)) ? ctx.read(path) : undefined;
  return {
    exitCode: async (command, expected = 0) => Number((await ctx.run(command)).exitCode === expected),
    fileEquals: async (path, text) => Number((await readOrNothing(path))?.trim() === text.trim()),
    fileMatches: async (path, pattern) => Number(pattern.test((await readOrNothing(path)) ?? "")),
    async testsPass(command) {
      const { exitCode, output } = await ctx.run(command);
      return exitCode === 0 ? 1 : shareOfPassed(output);
    },
    judge: (question) => ctx.judge(question),
  };
}

/** Numbers in the words of common test runners; a run that failed never gives 1. */
function shareOfPassed(output: string): number {
  const numberOf = (word: RegExp): number => Number(word.exec(output)?.[1] ?? 0);
  const passed = numberOf(/(\d+) pass(?:ed|ing)?\b/) || numberOf(/\bpass (\d+)/);
  const failed = numberOf(/(\d+) fail(?:ed|ing|ures?)?\b/) || numberOf(/\bfail (\d+)/);
  return failed === 0 ? 0 : passed / (passed + failed);
}
