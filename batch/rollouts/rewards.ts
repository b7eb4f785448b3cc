/** Ready rewards: each gives 1 or 0, and a judge a number between. Environments get them as `ctx.rewards`. */

type Workspace = {
  run(command: string): Promise<{ readonly exitCode: number | null; readonly output: string }>;
  read(path: string): Promise<string>;
  exists(path: string): Promise<boolean>;
  judge(question: string): Promise<number>;
};

export type Rewards = {
  /** 1 when the command ends with this exit code. */
  exitCode(command: string, expected?: number): Promise<number>;
  /** 1 when the file has exactly this text, apart from space around it. */
  fileEquals(path: string, text: string): Promise<number>;
  fileMatches(path: string, pattern: RegExp): Promise<number>;
  /** 1 when the command of the tests ends with 0, else the share of the tests that pass where its output says so. */
  testsPass(command: string): Promise<number>;
  judge(question: string): Promise<number>;
};

export function readyRewards(ctx: Workspace): Rewards {
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
